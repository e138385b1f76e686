"""Readers of texts: JSON, TOML, CSV and lists.

An invalid text raises InvalidTextError with one sentence: file, line or key, and the fault. No text
can make a reader slow, recurse deeply, or use much memory. The caller interprets the contents.
"""
