"""Conversion of a store into another with the same logic: identifying values change, rules and relations stay."""
