"""Networks of Caffe: a prototxt that describes layers, and a caffemodel that holds their weights.

Modules
    net_messages the messages of a prototxt, and which of their fields are read
    prototxt     a prototxt as a message, and what it holds besides
    parameters   what the fields of a message say, asked for by name and kind
    description  the layers of a prototxt in the phase of inference, in order
    blobs        the weights of a caffemodel, by layer
    graph        the ONNX graph while it grows, with the shape of every tensor
    layers       what each layer type becomes in ONNX, found by their files
    reader       all of them, one after the other

Left out: training, layers of the first format (`layers { layer { ... } }`), and Python layers.
"""

from hexsim.frameworks.caffe.reader import read_caffe

__all__ = ["read_caffe"]
