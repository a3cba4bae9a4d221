def alternatives(truth): return []
