"""One world turned into another with the same logic: every identifying value is exchanged, every rule and relation kept."""
