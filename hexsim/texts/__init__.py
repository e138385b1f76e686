"""What people and tools write as text: JSON, TOML, CSV and lists, each read in one place.

Whatever is wrong with a text is an InvalidDataError of one sentence: file, line or key, and what is
there.
Nothing in a text can make a reader slow, deep or large. What the text means is its caller's
business, and so is turning the error into one for the user.
"""
