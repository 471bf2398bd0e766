"""Reading text in several languages: folding, sentences, which language it is, values, and the message parser."""
