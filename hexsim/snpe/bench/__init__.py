"""`snpe_bench.py` runs the benchmark that a config describes.

Parts within
    config     reads the JSON file that describes the measurements
    flavours   combines runtimes with the buffers that each may have
    inputs     finds the files of an input list, which are in a folder of the device in SNPE
    folder     makes the folder of results, or finds that of an interrupted benchmark
    runs       simulates one run of one flavour and writes it, or reads it if it was written before
    values     compares the answers on the user's inputs with those in float
    results    makes the rows of the results about config and device
    files      writes the results as CSV and JSON

The memory of the process and the state of a device are not simulated and are left out.
"""
