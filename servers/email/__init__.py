"""A mailbox, seen by its owner: threads, labels, drafts, sending, replying, archiving."""
