"""What happens: plausible arguments, what depends on what, goals that a live world can grant."""
