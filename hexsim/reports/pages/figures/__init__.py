"""Figures of pages: each takes the data of a JSON report and returns a chart with its table.

Files within
    figure        the type of figures: title, sentence, chart, table
    chart         the drawing library, and the properties that all charts share
    runtimes      times of networks on runtimes
    layer_times   layers in the order in which they run, their times divided by bound
    timeline      all tracks of a trace
    roofline      layers under the roofs of the chip
    memory        activations that are live, layer by layer
    traffic       bytes that each layer moves, by level of memory
    energy        energy of each layer, by part
    interval      the effect of each constant on the time, and its datasheet
    latencies     calls of several instances at once
    layer_errors  the error of each tensor against float
    distributions histograms of the float values of activations, with the codes beside them
    histograms    histograms of weights, with the range of their encoding
    cuts          subnets and the cuts between them

Only `chart` imports the library.
"""
