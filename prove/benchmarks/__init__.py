"""What a trained model can do: held-out conversations, and the statistics of every comparison."""
