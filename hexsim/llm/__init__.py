"""Language models on the tensor processor: their structure, speed and memory, without weights.

A `config.json` of Hugging Face gives the architecture (`architecture`), and so does the graph of an
ONNX export (`onnx_decoder`). From it the networks of one block of the prompt and of one token are
made (`network`); they are planned and simulated as every network is (`study`), and again with
changes (`gains`).
"""
