"""The domains of tau2 as stores: their package's environments behind our desk. Nothing of theirs is copied; it is read where it is installed."""

from .store import DOMAINS, TauDesk, TauStore, domain_named, floor_of, known_of
