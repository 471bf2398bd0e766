"""Language models as judges of finished conversations, and labels of people to compare."""
