"""Masks: numbers that are added, or chosen, so that a softmax gives zero."""
