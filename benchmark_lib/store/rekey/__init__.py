"""One world turned into another with the same logic: what all kinds of desk share.

Every identifying value is exchanged, every rule and relation kept.
"""
