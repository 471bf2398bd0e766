"""Read text in several languages: folding, sentences, language detection, values, and the message parser."""
