"""How work is shared among threads: how many there are, and lists done in order."""
