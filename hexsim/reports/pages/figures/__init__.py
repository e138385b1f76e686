"""Figures of pages: each takes facts that JSON files have, and returns a chart with its table.

Files within
    figure        what a figure is: title, sentence, chart, table
    chart         the library that draws, and what all charts have in common
    runtimes      times of networks on runtimes
    layer_times   layers in the order in which they run, by what their time goes on
    timeline      all tracks of a trace
    roofline      layers under the roofs of the chip
    memory        activations that are live, layer by layer
    traffic       bytes that each layer moves, by level of memory
    energy        energy of each layer, by what it is spent on
    interval      how far each constant moves the time, and its owner
    latencies     calls of several instances at once
    layer_errors  how far each tensor is from float
    distributions how often the float values of activations occur, with the codes beside them
    histograms    how often the values of weights occur, with the range of their encoding
    cuts          subnets and the cuts between them

Only `chart` knows the library.
"""
