"""Video meetings of one host: invitations, the waiting room, who is in, and cloud recordings."""
