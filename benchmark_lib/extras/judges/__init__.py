"""Language models as judges of finished conversations, and people's labels for comparison."""
