"""Optional parts: each folder extends the core through its ``offers.toml``, and the core needs none of them."""
