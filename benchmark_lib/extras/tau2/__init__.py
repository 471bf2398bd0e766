"""The domains of tau2 as stores."""
