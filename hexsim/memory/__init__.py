"""How much memory one inference needs, and which layer needs most.

This is the memory that a runtime allocates at initialisation: weights as its engines store them, an
arena of activations for every subnet, scratch memory, and the buffers that are passed between the
application, the runtime and its engines.

The model follows Hexagon NN's published sources, which allocate all of it before the first
inference. SNPE's CPU, GPU and tensor engine runtimes are not published: they are assumed to plan
an arena in the same way, without the padding and guards of d32 (inferred).

Left out: code, stacks, the graph's own records and its min and max tensors (some hundred bytes a
layer); tensors between the nodes of one layer; the file while it is loaded, and what quantising at
load takes; page rounding of ION and of the heap.
"""

from hexsim.memory.footprint import footprint_of, require_addressable

__all__ = ["footprint_of", "require_addressable"]
