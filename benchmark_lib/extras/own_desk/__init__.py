"""A desk of one's own: declared acts and rules, compiled cases, tickets as CSV."""
