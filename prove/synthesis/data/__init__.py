"""What is handed on: data sets, knobs, deduplication, export and their card."""
