"""The tensor engine (HTA): a MAC array with memory of its own, beside HVX.

`compiler` turns the calls of one subnet into a command list (`command_list`), ahead of time, as the
offline quantiser does; `engine` runs the list in simulated time. What an HTA subnet computes is
no business of this package: the integer kernels of hexsim.int8 serve it too.

Nothing about the inside of the real engine is published but its MAC rate (as a marketing sum) and
its clock table. The form taken here is the common one of such engines; every number in it is an
assumed constant of the chip file with bounds, and results should be read with their interval.
"""
