"""Who decides: the Model contract and the models that ship."""
