"""The smallest server: a shelf from which neighbours lend things. Start your own from here."""
