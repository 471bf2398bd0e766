"""Forks: recorded conversations continued many times from one turn, for an interval on a rare decision."""
