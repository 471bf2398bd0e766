"""A desk of one's own: declared tables, acts and rules, cases whose keys follow from the policy, and tickets as CSV."""
