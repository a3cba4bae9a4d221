"""The mix `broad`: queries over several servers, with conditions and superlatives, with values that have to be worked out first, calls
that can be sent together, time between turns, corrections, and rules that the assistant has to keep.

`book` reads what a domain says of itself in `broad.toml`; `scene` is the world in which a conversation is tried out; `nouns` names
records and values as people do; each further module makes turns of one kind, as one small generator.
"""
