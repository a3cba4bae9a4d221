"""The mix `broad`: queries over several servers, with conditions and superlatives, with values that have to be worked out first, calls
that can be sent together, time between turns, corrections, and rules that the assistant has to keep.

`book` reads what a domain says of itself in `broad.toml`; `speech` is one user's voice; `scene` is the world in which a conversation is
tried out; `naming`, `filling` and `nouns` speak of records, of deeds and facts, and of values as people do; each further module makes
turns of one kind, as one small generator.
"""
