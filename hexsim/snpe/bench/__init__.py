"""`snpe_bench.py`: a benchmark as its config describes it, run by run.

Parts within
    config     the JSON file that says what is to be measured
    flavours   runtimes with the buffers that each may have
    inputs     where the files of an input list are, which a device would have in its own folder
    folder     the folder of results, or that of a benchmark that was killed
    runs       one run of one flavour: simulated once, written at once, read again ever after
    values     the answers on the user's inputs beside those in float
    sheet      what the results say of config and device

Left out: memory, of which nothing is simulated; what is measured of a device's own state.
"""
