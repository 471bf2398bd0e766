"""A desk of one's own: declared tables, acts and rules, and tickets as CSV."""
