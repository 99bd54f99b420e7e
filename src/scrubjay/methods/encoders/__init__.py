"""What says how alike two texts, or two frames, are: by words and a descriptor without a model, or by a neural net."""
