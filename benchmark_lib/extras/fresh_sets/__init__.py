"""One world turned into another with the same logic: identifying values are exchanged, rules and relations kept."""
