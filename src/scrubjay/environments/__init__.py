"""What an agent acts in: the contract, and one folder per environment."""
