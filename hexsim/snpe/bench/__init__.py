"""`snpe_bench.py` runs the benchmark that a config describes.

Parts within
    config     reads the JSON file that describes the measurements, and finds its inputs
    flavours   combines runtimes with the buffers that each may have
    folder     makes or finds the folder of results, and has its runs written or read
    values     compares the answers on the user's inputs with those in float
    files      writes the results as CSV and JSON

The memory of the process and the state of a device are not simulated and are left out.
"""
