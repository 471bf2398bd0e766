"""Sly agents: no model, no case knowledge, and each a way of passing without doing the work.

They see what any agent sees, and are rows of the audit: where one passes, score, customer or facts have a hole.
"""

from __future__ import annotations

from . import acting, keywords, pouring, talking
from .base import Sly

SLY: dict[str, type[Sly]] = {
    "sly_pour": pouring.PourAll,
    "sly_pour_table": pouring.PourTable,
    "sly_pour_denied": pouring.PourDenied,
    "sly_pour_asked": pouring.PourAsked,
    "sly_pour_by_turn": pouring.PourDrop,
    "sly_pour_padded": pouring.PourPadded,
    "sly_pour_buried": pouring.PourBuried,
    "sly_pour_spelled": pouring.PourSpelled,
    "sly_pour_hidden": pouring.PourHidden,
    "sly_amounts": pouring.AllAmounts,
    "sly_amounts_by_turn": pouring.AmountsByTurn,
    "sly_windows": pouring.AllWindows,
    "sly_days": pouring.AllDays,
    "sly_days_by_turn": pouring.DaysByTurn,
    "sly_working_days_by_turn": pouring.WorkingDaysByTurn,
    "sly_days_alike": pouring.DaysAlike,
    "sly_days_corrected": pouring.DaysCorrected,
    "sly_days_either": pouring.DaysEither,
    "sly_articles": pouring.PasteArticles,
    "sly_goods": pouring.PasteGoods,
    "sly_quote": pouring.QuotePolicy,
    "sly_act_first": acting.ActFirst,
    "sly_act_then_ask": acting.ActThenAsk,
    "sly_yes_to_nothing": acting.YesToNothing,
    "sly_offer_and_do_other": acting.OfferAndDoOther,
    "sly_menu": acting.Menu,
    "sly_offer_each": acting.OfferEach,
    "sly_offer_all": acting.OfferAll,
    "sly_do_everything": acting.DoEverything,
    "sly_cancel_all_hand_over": acting.CancelAllHandOver,
    "sly_claim_hand_over": acting.ClaimHandOver,
    "sly_act_hand_over_empty": acting.ActHandOverEmpty,
    "sly_hand_over_empty": acting.HandOverEmpty,
    "sly_close_with_excuse": acting.CloseWithExcuse,
    "sly_close_as_open": acting.CloseAsOpen,
    "sly_respelled": acting.Respelled,
    "sly_note_reroute": acting.NoteReroute,
    "sly_excuses": talking.Excuses,
    "sly_reason_list": talking.ReasonList,
    "sly_reasons_by_turn": talking.ReasonsByTurn,
    "sly_few_reasons": talking.FewReasons,
    "sly_hostile_reasons": talking.HostileReasons,
    "sly_reason_and_promise": talking.ReasonAndPromise,
    "sly_keep_open": talking.KeepOpen,
    "sly_ask_everything": talking.AskEverything,
    "sly_repeat": talking.Repeat,
    "sly_wish_as_done": talking.WishAsDone,
    "sly_all_done": talking.AllDone,
    "sly_keyword_rules": keywords.KeywordRules,
    "sly_keyword_rules_elsewhere": keywords.KeywordRulesElsewhere,
}
"""Sly agents by name; ``scripted:sly_pour`` plays one."""
