"""Conversion of a store into another with the same logic but new identifying values."""
