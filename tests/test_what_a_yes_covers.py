"""A yes covers what the offer named: an offer of another object, or of a menu, lets nobody make the right call."""

import re

import pytest
from test_customer import answer, did

from benchmark_lib.conversation.scripted import Oracle
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.language.parser import parser_of
from benchmark_lib.scoring import score
from benchmark_lib.store.retail.offers import variants

STRANGER = "Tom Riley, 88 Harbor View Road, Bend, OR 97702, US"
MENU = {
    "en": "We could take it back, send a replacement or ship it again. Shall I?",
    "de": "Ich könnte eine Rücksendung eröffnen, Ersatz schicken oder alles neu versenden. Soll ich?",
    "es": "Podría abrir una devolución, mandarle un reemplazo o cancelar el pedido. ¿Lo hago?",
    "fr": "Je pourrais ouvrir un retour, envoyer un remplacement ou annuler la commande. Je le fais ?",
}
VAGUE = {"en": "Shall I do it?", "de": "Soll ich das tun?", "es": "¿Lo hago así?", "fr": "Je le fais ?"}


class Offers(Oracle):
    """The oracle, except that its first offer of each act is another one, after which it calls without asking."""

    def __init__(self, case, store, how):
        super().__init__(case, store)
        self.how, self.times = how, {}

    def _agreed_to(self, place, agreed):
        if self.how in ("another", "misread", "menu"):
            return place in self.times
        return self.times.get(place, 0) > 1 and super()._agreed_to(place, agreed)

    def line(self, call, part):
        if part != "propose" or call.tool not in self.guards["confirmation"]:
            return super().line(call, part)
        place = self.outcome.calls.index(call)
        self.times[place] = self.times.get(place, 0) + 1
        right = super().line(call, part)
        if self.how == "menu":
            return MENU[self.case.language]
        if self.how == "vague":
            plan = [s for s in re.split(r"(?<=\.) ", right) if not s.endswith("?")]
            return " ".join(plan) if self.times[place] == 1 else VAGUE[self.case.language]
        return right if self.how == "again" and self.times[place] > 1 else self.other(call)

    def other(self, call):
        """Return the offer of a call with another object in place of its own."""
        given, store, goods = call.arguments, self.store, self.store.tables["products"]
        values = {k: str(v) for k, v in given.items()} | store.kind.described(given, call.tool, store)
        lines = store.tables["orders"][given["order_id"]]["lines"]
        strange = next(p for p in reversed(goods.values()) if p["product_id"] not in {x["product_id"] for x in lines})
        if "address" in given:
            values["address"] = re.sub(r"\d", "3", values["address"]) if self.how == "misread" else STRANGER
        elif "variant_id" in given:
            product, mine = variants(store)[given["variant_id"]]
            had = [variants(store)[x["variant_id"]][1]["color"] for x in lines if x["line_id"] == given.get("line_id")]
            variant = [v for v in product["variants"] if v["color"] not in (mine["color"], *had)]
            values["variant"] = strange["title"]
            if variant and self.how != "misread":
                values["variant"] = f"{product['title']}, {variant[0]['color']}"
        elif "line_ids" in given:
            rest = [x["title"] for x in lines if x["line_id"] not in given["line_ids"]]
            values["items"] = rest[0] if rest and self.how != "misread" else strange["title"]
        else:
            values["order_id"] = given["order_id"][:-2] + given["order_id"][:-3:-1]
            if values["order_id"] == given["order_id"]:
                values["order_id"] = "NL-90009"
        text = self.book["actions"][call.tool]["propose"]
        for name, value in values.items():
            text = text.replace("{" + name + "}", value)
        return text


@pytest.fixture(scope="module")
def confirmed(store, cases):
    guarded = {*store.policy["process_rules"]["confirmation"]["guards"]}
    found = [c for c in cases.values() if c.bucket == "resolvable"]
    found = [c for c in found if any(call.tool in guarded for o in c.outcomes for call in o.calls)]
    assert len(found) == 68
    return found


def resolved(store, cases, how):
    played = {c.id: play(c, store, Offers(c, store, how)) for c in cases}
    return {c.id for c in cases if score(played[c.id], c, store, findings=False)["success"]}


@pytest.mark.parametrize("how", ["another", "misread", "menu"])
def test_a_right_act_after_a_wrong_offer_is_not_consented(store, confirmed, how):
    assert resolved(store, confirmed, how) == set()


@pytest.mark.parametrize("how", ["again", "vague"])
def test_the_right_offer_after_a_correction_and_a_plan_with_a_bare_question_are(store, confirmed, how):
    assert len(resolved(store, confirmed, how)) == len(confirmed)


ALTERNATIVES = [
    "May I open the return for you? It takes the place of the replacement. Should you prefer a fresh one, send the picture first.",
    "I'd take the suitcase back as a return and not send a replacement. Is that okay?",
    "In lieu of a replacement I can offer a return. Would that be all right?",
    "Shall I set up the return? Otherwise I could mail you a replacement as soon as there is a picture.",
    "Darf ich anstelle eines Ersatzes die Rücksendung anlegen?",
    "Soll ich die Rücksendung anlegen? Sollten Sie lieber einen Ersatz wollen, schicken Sie mir das Bild.",
    "Puis-je ouvrir un retour plutôt qu'un remplacement ?",
    "Dois-je ouvrir le retour ? Si vous aimez mieux un remplacement, envoyez-moi la photo.",
    "¿Abro la devolución en vez de mandarle un reemplazo?",
    "¿Le abro la devolución? De lo contrario, le mando un reemplazo cuando llegue la foto.",
]


@pytest.mark.parametrize("offer", ALTERNATIVES)
def test_an_act_named_as_the_alternative_is_not_agreed_to(store, cases, offer):
    said, _ = answer(cases["damaged_no_proof"], store, offer)
    assert "start_return" in parser_of(store).parse(offer).offered
    assert did(said[0], "agreed", "refused", "lacked") in ([("refused", "start_return")], [("lacked", "photo")])


@pytest.mark.parametrize(
    "offer",
    [
        "If you'd rather have a replacement, say yes and I'll send the new one out.",
        "I would send you a replacement instead of taking the broken one back. Shall I?",
        "We usually start a return. If you prefer a replacement, I would send it without a label. Is that all right?",
        "Statt die kaputte zurückzunehmen, würde ich Ihnen einen Ersatz schicken. Soll ich?",
    ],
)
def test_an_act_that_is_offered_in_place_of_something_is(store, cases, offer):
    said, _ = answer(cases["damaged_no_proof"], store, offer)
    assert ("agreed", "create_replacement") in did(said[0])


def test_what_cannot_be_done_in_part_but_is_offered_whole_is_not_declined(store):
    heard = parser_of(store).parse("I cannot take one off, but I can cancel the whole order NL-50012. Shall I?")
    assert heard.proposed == ["cancel_order"] and not heard.declined
