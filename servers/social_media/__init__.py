"""A social network, seen by one member: profiles, follows, posts, likes, comments and a ranked feed."""
