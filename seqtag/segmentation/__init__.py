"""Segmentation: text to tokens and sentences, tokens to words."""
