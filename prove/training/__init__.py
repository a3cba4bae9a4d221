"""Training: models, a local policy, GRPO and supervised fine-tuning."""
