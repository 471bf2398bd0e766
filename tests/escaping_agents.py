"""Agents that try to get out of ``--isolate``; each reply says in JSON which ways were open.

`test_isolated_agents` copies this file beside ``target.json``: the run file, a file of keys, and the pid of who runs the command.
"""

import contextlib
import ctypes
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
SECRET = "secret-of-somebody"
LIBC = ctypes.CDLL(None, use_errno=True)
WAYS = []


def way(function):
    WAYS.append(function)
    return function


def others():
    return [int(n) for n in os.listdir("/proc") if n.isdigit() and int(n) != os.getpid()]


def target():
    return json.loads((HERE / "target.json").read_text())


@way
def run_file_through_descriptors_of_others():
    links = []
    for pid in [*others(), os.getppid() or 1]:
        with contextlib.suppress(OSError):
            links += [os.readlink(f"/proc/{pid}/fd/{n}") for n in os.listdir(f"/proc/{pid}/fd")]
    return any(".deskbench" in link for link in links)


@way
def files_through_the_root_of_others():
    return any(os.path.exists(f"/proc/{pid}/root{target()['run']}") for pid in [*others(), "self"])


@way
def run_file_by_its_path():
    with open(target()["run"], "rb") as file:
        return bool(file.read(16))


@way
def run_files_and_cases_by_walking():
    import benchmark_lib

    tops = {HERE, Path(target()["run"]).parent, Path(benchmark_lib.__file__).parents[1]}
    for top in tops:
        for folder, folders, names in os.walk(top):
            folders[:] = [name for name in folders if name != ".venv"]
            if any(".deskbench" in name for name in names) or folder.endswith(("data/stores", "data/runs")):
                return True
    return False


@way
def cases_through_the_package():
    from benchmark_lib import load_cases, load_store

    return len(load_cases(load_store())) > 0


@way
def keys_in_its_own_environment():
    return SECRET in str(dict(os.environ)) or SECRET in Path("/proc/self/environ").read_text()


@way
def keys_in_the_environment_of_others():
    found = ""
    for pid in others():
        with contextlib.suppress(OSError):
            found += Path(f"/proc/{pid}/environ").read_text()
    return SECRET in found


@way
def keys_in_a_hidden_file_beside_it():
    return SECRET in (HERE / ".env").read_text()


@way
def what_links_beside_it_lead_to():
    links = [path for path in HERE.rglob("to-*") if path.exists()]
    return [path.name for path in links if {*os.listdir(path)} - {*os.listdir("/proc")}]


@way
def hidden_files_and_run_files_below_it():
    names = [name for _, folders, files in os.walk(HERE) for name in folders + files]
    return [name for name in names if name.startswith(".") or ".deskbench" in name or name == "pipe"]


@way
def memory_without_end():
    return not 0 < resource.getrlimit(resource.RLIMIT_AS)[1] < 2**40


@way
def a_user_that_others_are_too():
    return os.geteuid() in (0, 65534)


@way
def memory_of_others():
    for pid in [*others(), target()["pid"]]:
        with contextlib.suppress(OSError):
            open(f"/proc/{pid}/mem", "rb").close()
            return True
        if LIBC.ptrace(16, pid, 0, 0) == 0:
            return True
    return False


@way
def signals_to_others():
    os.kill(target()["pid"], 0)
    return True


@way
def inherited_descriptors():
    links = {
        os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if os.path.islink(f"/proc/self/fd/{n}")
    }
    return [link for link in links if not link.startswith("pipe:") and "null" not in link]


def outlives(path):
    """Whether what is written there is on a disk, and not in the folder of memory that is the agent's own."""
    path.write_text("")
    return path.stat().st_dev != os.stat("/").st_dev


@way
def writing_beside_itself():
    return outlives(HERE / "left.py")


@way
def writing_into_the_package():
    import benchmark_lib

    with open(benchmark_lib.__file__, "a"):
        return True


@way
def writing_where_python_looks():
    import site

    for place in [*sys.path, *site.getsitepackages(), site.getusersitepackages()]:
        with contextlib.suppress(OSError):
            if outlives(Path(place, "usercustomize_of_nobody.py")):
                return True
    return False


@way
def filling_the_disk():
    block = bytes(2**20)
    with contextlib.suppress(OSError), open("full", "wb") as file:
        for _ in range(600):
            file.write(block)
    size = os.path.getsize("full")
    os.remove("full")
    return size > 400 * 2**20


@way
def processes_without_end():
    return not 0 < resource.getrlimit(resource.RLIMIT_NPROC)[1] < 10_000


@way
def unmounting_in_a_namespace_of_its_own():
    child = os.fork()
    if child == 0:
        if LIBC.unshare(0x10000000 | 0x20000) or LIBC.mount(b"none", b"/", None, 0x40000 | 0x4000, None):
            os._exit(10)
        for line in Path("/proc/self/mounts").read_bytes().splitlines()[::-1]:
            point = line.split()[1]
            LIBC.umount2(point, 2)
            LIBC.mount(b"none", point, None, 32 | 4096, None)
        here = (os.path.exists(target()["run"]), os.access(HERE / "escaping_agents.py", os.W_OK))
        os._exit(10 + here[0] + 2 * here[1])
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 10


@way
def privileges():
    return os.geteuid() == 0 or any(
        int(line.split()[1], 16) for line in open("/proc/self/status") if line.startswith(("CapEff", "CapPrm"))
    )


@way
def setuid_programs():
    found = subprocess.run(["su", "-c", "id"], capture_output=True, stdin=subprocess.DEVNULL)
    return b"uid=0" in found.stdout


class Escapes:
    """Tries every way out."""

    def reply(self, talk):
        found = {}
        for function in WAYS:
            try:
                found[function.__name__] = function() or None
            except Exception:
                found[function.__name__] = None
        return json.dumps({name: one for name, one in found.items() if one})


def leave_behind():
    """Start a process that is in no group, session or family of this one."""
    LIBC.prctl(1, 0, 0, 0, 0)
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", f"left-by {HERE}"])


class Polite:
    """Says hello, and no more."""

    def reply(self, talk):
        return "Hello."


class Leaves:
    """Leaves a process behind, answers, and is done."""

    def reply(self, talk):
        leave_behind()
        return "Hello."


class Stays:
    """Leaves a process behind, and then hangs in a call that holds the interpreter."""

    def reply(self, talk):
        import re

        leave_behind()
        re.match("(a|aa)+$", "a" * 60 + "b")


class Forges:
    """Writes the best scores into the run file, with the package's own seals."""

    def reply(self, talk):
        with contextlib.suppress(Exception):
            import orjson

            time.sleep(0.5)  # what was played before is on disk then
            from benchmark_lib.runfile import connect_to_write

            db = connect_to_write(Path(target()["run"]))
            for digest, version, scores in db.execute("SELECT record_hash, version, scores FROM scores").fetchall():
                best = orjson.loads(scores) | {"success": True, "resolved": True, "over_escalation": False}
                db.put("scores", [(digest, version, orjson.dumps(best))])
            db.close()
        return "Hello."


def tell(**message):
    """Write what only the harness's own side may write, wherever that can be written to."""
    for fd in range(1, 20):
        with contextlib.suppress(OSError):
            os.write(fd, json.dumps(message).encode() + b"\n")


class TakesTheWallsDown(Forges):
    """Says that there are no walls as soon as it is loaded, in a conversation or before, and forges where that is believed."""

    def __init__(self, early=False):
        if early or "--check" not in sys.argv:
            tell(open="Operation not permitted")
            tell(up=True)


def takes_the_walls_down_early():
    return TakesTheWallsDown(early=True)


class Slow:
    """Takes its time."""

    def reply(self, talk):
        time.sleep(2)
        return "Hello."


class Floods:
    """Writes thoughts without end."""

    def reply(self, talk):
        while True:
            talk.think("x")


class Overcharges:
    """Charges more tokens than a file can hold."""

    def reply(self, talk):
        from benchmark_lib.records import Usage

        for _ in range(3000):
            talk.charge(Usage(prompt_tokens=2**53 - 1))
        return "Hello."
