"""Files: outputs are written atomically and never over inputs; inputs are ordinary files.

Files within
    atomic_write  outputs are renamed to their places together, when all are finished
    places        whether a path can be written, and whether two names mean the same file
    temporaries   temporary files beside outputs, and those that killed programs left behind
    reading       checks that inputs are ordinary files
    private       private folders for caches, which nobody else can write
    zip_faults    the exceptions of ZIP archives that are damaged
    checkpoint    results of parts of long work, stored from one run to the next

Left out: access control lists, extended attributes, and a machine that loses its power.
"""
