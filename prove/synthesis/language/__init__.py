"""How it is said: phrasebooks, values in words and back, measures of wording."""
