"""A team's chat, seen by one member: channels, messages, threads, reactions."""
