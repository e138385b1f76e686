"""How work is shared among threads: the number of threads, and lists that are worked on in order."""
