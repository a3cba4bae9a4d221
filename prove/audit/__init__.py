"""What a reward buys: policies played live, weak rollouts, changes of one action, simulated learning."""
