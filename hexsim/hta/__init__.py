"""The tensor engine (HTA): a MAC array with memory of its own, beside HVX.

`compiler` turns the calls of one subnet into a command list (`command_list`) ahead of time, as the
offline quantiser does; `engine` runs the list in simulated time. The values of an HTA subnet are
computed by the integer kernels of hexsim.int8.

Of the real engine only the MAC rate (as a marketing total) and the clock table are published.
The model has the usual structure of such engines; each of its constants is assumed,
with bounds in the chip file, and results should be read with their interval.
"""
