"""What the benchmark can do without: each folder adds to the core by what its ``offers.toml`` lists, and none is needed by it."""
