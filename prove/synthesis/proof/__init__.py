"""What makes a ground truth the truth: it runs, its values have a source, each of its parts is needed, and nothing else is asked for."""
