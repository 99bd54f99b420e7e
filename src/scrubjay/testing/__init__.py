"""What users need to test their own environment, model, method or frame codec."""
