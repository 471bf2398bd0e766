"""Read text in several languages: folding, sentences, values and the message parser."""
