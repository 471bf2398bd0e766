"""The domains of tau2 as stores, with the installed package's environments as desks."""
