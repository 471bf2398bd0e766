"""Optional parts: each folder adds what its ``offers.toml`` lists; the core needs none."""
