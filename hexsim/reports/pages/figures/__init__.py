"""Figures of pages: each takes the data of a JSON report and returns a chart with its table.

Files within
    chart       the drawing library, bars of layers, and the type of figures: title, chart, table
    times       layers, runtimes and calls by time, and the effect of each constant on it
    timeline    all tracks of a trace
    costs       memory, moved bytes and energy of layers, and the roofs of the chip
    validation  errors, ranges and values of tensors, diagnoses and remedies
    weights     histograms of weights, with the range of their encoding
    network     the network as a drawing, its subnets and the cuts between them

Only `chart` imports the library.
"""
