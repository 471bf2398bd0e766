"""A small model on this machine that needs no key, and the doctor that examines an endpoint."""
