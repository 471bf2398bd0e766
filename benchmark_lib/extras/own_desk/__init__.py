"""Desks of one's own: declared acts and rules, compiled cases, tickets from CSV files."""
