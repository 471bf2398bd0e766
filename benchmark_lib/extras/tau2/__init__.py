"""The domains of tau2 as stores, with the installed package's environments as desks."""

from .store import DOMAINS, TauDesk, TauStore, domain_named, floor_of, known_of
