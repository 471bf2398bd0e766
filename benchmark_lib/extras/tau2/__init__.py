"""The domains of tau2 as stores: the installed package's environments behind our desk."""

from .store import DOMAINS, TauDesk, TauStore, domain_named, floor_of, known_of
