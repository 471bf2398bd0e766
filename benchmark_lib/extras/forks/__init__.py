"""Forks: recorded conversations continued many times from one turn."""
