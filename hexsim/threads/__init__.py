"""How work is shared among threads: the number of threads, and lists worked on in order."""
