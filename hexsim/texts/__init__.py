"""Readers of texts: JSON, TOML, CSV and lists.

An invalid text raises InvalidDataError with one sentence: file, line or key, and the fault. No text
can make a reader slow, recurse deeply, or use much memory. The caller interprets the contents and
turns the error into one for the user.
"""
