"""PEAM: a fast policy of one LoRA adapter per skill category, trained from what a memory holds, before the slow model.

Nothing here imports torch before an adapter is trained or asked.
"""
