"""The schema of a prototxt: the fields that are read, by the names of Caffe and its forks.

A text contains names of fields and not their numbers and widths. So fields are numbered by their
positions here, integers are int32, and real numbers are doubles. The words of an enumeration have
Caffe's numbers, which a text may contain instead of the words.
Fields of `HARMLESS` are ignored; any other unknown field is refused in a layer that is used.
"""

from __future__ import annotations

from hexsim.frameworks.messages import message_classes

V1_TYPES = {
    "NONE": "", "ACCURACY": "Accuracy", "BNLL": "BNLL", "CONCAT": "Concat",
    "CONVOLUTION": "Convolution", "DATA": "Data", "DROPOUT": "Dropout",
    "EUCLIDEAN_LOSS": "EuclideanLoss", "FLATTEN": "Flatten", "HDF5_DATA": "HDF5Data",
    "HDF5_OUTPUT": "HDF5Output", "IM2COL": "Im2col", "IMAGE_DATA": "ImageData",
    "INFOGAIN_LOSS": "InfogainLoss", "INNER_PRODUCT": "InnerProduct", "LRN": "LRN",
    "MULTINOMIAL_LOGISTIC_LOSS": "MultinomialLogisticLoss", "POOLING": "Pooling",
    "RELU": "ReLU", "SIGMOID": "Sigmoid", "SOFTMAX": "Softmax",
    "SOFTMAX_LOSS": "SoftmaxWithLoss", "SPLIT": "Split", "TANH": "TanH",
    "WINDOW_DATA": "WindowData", "ELTWISE": "Eltwise", "POWER": "Power",
    "SIGMOID_CROSS_ENTROPY_LOSS": "SigmoidCrossEntropyLoss", "HINGE_LOSS": "HingeLoss",
    "MEMORY_DATA": "MemoryData", "ARGMAX": "ArgMax", "THRESHOLD": "Threshold",
    "DUMMY_DATA": "DummyData", "SLICE": "Slice", "MVN": "MVN", "ABSVAL": "AbsVal",
    "SILENCE": "Silence", "CONTRASTIVE_LOSS": "ContrastiveLoss", "EXP": "Exp",
    "DECONVOLUTION": "Deconvolution",
}  # fmt: skip
"""Current names of the layer types of V1, which are numbered from 0."""

HARMLESS = frozenset(
    {
        "bias_filler", "blob_share_mode", "blobs_lr", "debug_info", "dropout_param", "engine",
        "filler", "force_backward", "loss_weight", "param", "phase", "propagate_down",
        "scale_filler", "state", "transform_param", "weight_decay", "weight_filler",
    }
)  # fmt: skip
"""Fields that do not affect inference."""

_SIDES = "name:text bottom:text* top:text* include:Rule* exclude:Rule*"
_PARAMETERS = {
    "ArgMax": "top_k:int32 out_max_val:flag axis:int32",
    "Batch_Norm": "use_global_stats:flag moving_average_fraction:double eps:double",
    "Bias": "axis:int32 num_axes:int32",
    "Clip": "min:double max:double",
    "Concat": "axis:int32 concat_dim:int32",
    "Convolution": "num_output:int32 bias_term:flag group:int32 axis:int32 force_nd_im2col:flag "
    "kernel_size:int32* kernel_h:int32 kernel_w:int32 stride:int32* stride_h:int32 stride_w:int32 "
    "pad:int32* pad_h:int32 pad_w:int32 dilation:int32*",
    "Crop": "axis:int32 offset:int32*",
    "Eltwise": "operation:PROD|SUM|MAX coeff:double* stable_prod_grad:flag",
    "Elu": "alpha:double",
    "Exp": "base:double scale:double shift:double",
    "Flatten": "axis:int32 end_axis:int32",
    "Inner_Product": "num_output:int32 bias_term:flag axis:int32 transpose:flag",
    "Input": "shape:Shape*",
    "Log": "base:double scale:double shift:double",
    "Lrn": "local_size:int32 alpha:double beta:double k:double "
    "norm_region:ACROSS_CHANNELS|WITHIN_CHANNEL",
    "Mvn": "normalize_variance:flag across_channels:flag eps:double",
    "Norm": "across_spatial:flag channel_shared:flag eps:double",
    "Permute": "order:int32*",
    "Pooling": "pool:MAX|AVE|STOCHASTIC round_mode:CEIL|FLOOR global_pooling:flag "
    "kernel_size:int32 kernel_h:int32 kernel_w:int32 stride:int32 stride_h:int32 stride_w:int32 "
    "pad:int32 pad_h:int32 pad_w:int32",
    "Power": "power:double scale:double shift:double",
    "PRelu": "channel_shared:flag",
    "Reduction": "operation:SUM=1|ASUM=2|SUMSQ=3|MEAN=4 axis:int32 coeff:double",
    "Relu": "negative_slope:double",
    "Reshape": "shape:Shape axis:int32 num_axes:int32",
    "Scale": "axis:int32 num_axes:int32 bias_term:flag",
    "Shuffle_Channel": "group:int32",
    "Sigmoid": "",
    "Slice": "axis:int32 slice_dim:int32 slice_point:int32*",
    "Softmax": "axis:int32",
    "Swish": "beta:double",
    "Tanh": "",
    "Threshold": "threshold:double",
    "Tile": "axis:int32 tiles:int32",
}
"""Parameters of layers; in lower case, a key is the name of the field without `_param`."""
_FIELDS = " ".join(f"{title.lower()}_param:{title}" for title in _PARAMETERS)

Net = message_classes(
    "caffe",
    {
        **_PARAMETERS,
        "Net": "name:text input:text* input_shape:Shape* input_dim:int32* "
        "layer:Layer* layers:V1Layer*",
        "Layer": f"type:text {_SIDES} {_FIELDS}",
        "V1Layer": f"type:{'|'.join(V1_TYPES)} layer:V0Layer {_SIDES} {_FIELDS}",
        "V0Layer": "",
        "Rule": "phase:TRAIN|TEST min_level:int32 max_level:int32 stage:text* not_stage:text*",
        "Shape": "dim:int32*",
    },
)["Net"]
