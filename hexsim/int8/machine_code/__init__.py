"""How kernels become machine code: compiling, cache on disk, vectors and addresses as LLVM IR."""

import os

from hexsim.isolation import own_folder

with own_folder("numba"):
    import numba.core.config

# It reads this file again, from the current folder, whenever it compiles.
numba.core.config._config_fname = os.devnull
