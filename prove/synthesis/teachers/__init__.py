"""Who speaks: from the phrasebooks, or a language model."""
