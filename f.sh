oo () 
{ 
    for i in "$@";
    do
        echo "== $i";
        curl -s $B/call/get_order -d "{\"order_id\":\"$i\"}" | python3 -c "
import sys,json
t=sys.stdin.read()
try:
  d=json.loads(t[t.find('{'):])
  print({k:d[k] for k in ('status','shipping_address','returns','reshipments','returns_in_this_conversation','as_of','error','notes') if k in d},[(l['line_id'],l['variant_id']) for l in d.get('lines',[])],[p['kind'] for p in d.get('payments',[])])
  print([k for k in d])
except Exception as e: print(t)";
    done
}
