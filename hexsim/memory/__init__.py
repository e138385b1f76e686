"""How much memory one inference needs, and where it is largest: no time, no values.

What a runtime has allocated from initialisation to the end: weights as its engines keep them, an
arena of activations for every subnet, scratch memory, and the buffers that cross between the
application, the runtime and its engines.

Modelled after Hexagon NN's published sources, which allocate all of it before the first inference.
What SNPE's CPU, GPU and tensor engine runtimes do is not published: they are taken to plan an arena
in the same way, without padding and guards of d32 (inferred).

Left out: code, stacks, the graph's own records and its min and max tensors (some hundred bytes a
layer); tensors between the nodes of one layer; the file while it is loaded, and what quantising at
load takes; page rounding of ION and of the heap.
"""

from hexsim.memory.footprint import Footprint, LayerMemory
from hexsim.memory.plan_footprint import footprint_of

__all__ = ["Footprint", "LayerMemory", "footprint_of"]
