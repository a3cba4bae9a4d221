"""The library: twenty domains, one folder each. Found by `prove.servers.catalog`; they never import each other."""
