"""Language models on the tensor processor: their structure and their networks, without weights.

A `config.json` of Hugging Face gives the architecture (`architecture`), and so does the graph of an
ONNX export (`onnx_decoder`). From it the networks of one block of the prompt and of one token are
made (`network`). `hexsim.studies.language_model` simulates them.
"""
