"""People, or programs over a local port, in the agent's or the customer's chair: ``deskbench sit``."""
