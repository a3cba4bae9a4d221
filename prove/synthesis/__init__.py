"""Conversations made against live servers and certified by execution (arXiv:2606.03892, section 3)."""
