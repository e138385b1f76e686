"""Networks of Caffe: a prototxt that describes layers, and a caffemodel with their weights.

Modules
    net_messages schema of a prototxt: its messages and the fields that are read
    prototxt     parses a prototxt into a message and reports unknown fields
    parameters   reads the fields of a message by name and type
    description  lists the layers that are used in inference, in order
    blobs        reads the weights of a caffemodel, by layer
    graph        builds the ONNX graph with the shape of every tensor
    layers       translates each layer type to ONNX, one file per family
    reader       calls the other modules in order

Left out: training, layers of the first format (`layers { layer { ... } }`), and Python layers.
"""

from hexsim.frameworks.caffe.reader import read_caffe

__all__ = ["read_caffe"]
