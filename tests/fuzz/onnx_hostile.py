"""Small files that ask for much, and files that no exporter writes: by name, made by functions.

Those that a run of the mutations once found to break something are kept here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.fuzz.onnx_seeds import model


def node(operator: str, inputs, outputs, name: str = "", domain: str = "", **attributes):
    """A node, whose attributes may be empty lists."""
    made = helper.make_node(operator, inputs, outputs, name=name, domain=domain)
    for key, value in attributes.items():
        if value == []:
            made.attribute.add(name=key, type=onnx.AttributeProto.INTS)
        else:
            made.attribute.append(helper.make_attribute(key, value))
    return made


def _sizes(*sizes: int) -> np.ndarray:
    return np.array(sizes, np.int64)


def _float(value: float) -> np.ndarray:
    return np.array(value, np.float32)


ONE = np.ones(1, np.float32)
HUGE = 10**9


def _added(*makers: onnx.NodeProto, **weights: np.ndarray) -> onnx.ModelProto:
    """x plus the sum of the constant k, which `makers` compute."""
    total = node("ReduceSum", ["k"], ["s"], keepdims=0)
    return model([*makers, total, node("Add", ["x", "s"], ["y"])], weights)


def _of_shape(*dims: int, operator: str = "Relu") -> onnx.ModelProto:
    made = model([node(operator, ["x"], ["y"])], {})
    shape = made.graph.input[0].type.tensor_type.shape
    del shape.dim[:]
    for size in dims:
        shape.dim.add(dim_value=size)
    made.graph.output[0].type.tensor_type.ClearField("shape")
    return made


def _image(*nodes: onnx.NodeProto, **weights: np.ndarray) -> onnx.ModelProto:
    made = model(nodes, weights)
    del made.graph.input[0].type.tensor_type.shape.dim[:]
    for size in (1, 3, 8, 8):
        made.graph.input[0].type.tensor_type.shape.dim.add(dim_value=size)
    made.graph.output[0].type.tensor_type.ClearField("shape")
    return made


def _chain(count: int, operator: str = "Relu") -> onnx.ModelProto:
    names = ["x", *(f"t{i}" for i in range(count - 1)), "y"]
    return model([node(operator, [names[i]], [names[i + 1]]) for i in range(count)], {})


def _constant_chain(count: int, size: int, twice: bool) -> onnx.ModelProto:
    """Constants computed from the one before: of two, both are computed of both."""
    nodes = [node("Expand", ["one", "n"], ["a0"]), node("Expand", ["one", "n"], ["b0"])]
    for i in range(count):
        other = f"b{i}" if twice else f"a{i}"
        nodes.append(node("Add", [f"a{i}", other], [f"a{i + 1}"]))
        nodes.append(node("Mul", [f"a{i}", other], [f"b{i + 1}"]))
    nodes.append(node("Max", [f"a{count}", f"b{count}"], ["k"]))
    return _added(*nodes, one=ONE, n=_sizes(size))


def _nested(depth: int) -> onnx.ModelProto:
    inner = node("Relu", ["x"], ["o"])
    for _ in range(depth):
        out = helper.make_tensor_value_info("o", 1, [2, 3])
        branch = helper.make_graph([inner], "b", [], [out])
        other = helper.make_graph([node("Neg", ["x"], ["o"])], "b", [], [out])
        inner = node("If", ["c"], ["o"], then_branch=branch, else_branch=other)
    inner.output[0] = "y"
    return model([inner], {"c": np.array(True)})


def _misfits(depth: int) -> onnx.ModelProto:
    """Branches within branches; of each pair one contradicts the shapes, so both are looked at."""
    inner = node("Relu", ["x"], ["o0"])
    for level in range(depth):
        out = [helper.make_tensor_value_info(f"o{level}", 1, [2, 3])]
        wrong = [helper.make_tensor_value_info("w", 1, [2, 3])]
        fits = helper.make_graph([inner], "b", [], out)
        misfit = helper.make_graph([node("Reshape", ["x", "five"], ["w"])], "b", [], wrong)
        branches = {"then_branch": fits, "else_branch": misfit}
        inner = node("If", ["c"], [f"o{level + 1}"], **branches)
    inner.output[0] = "y"
    less = [node("ReduceSum", ["x"], ["s"], keepdims=0), node("Less", ["s", "s"], ["c"])]
    return model([*less, inner], {"five": _sizes(5)})


def _functions(levels: int, calls: int) -> onnx.ModelProto:
    """Each function calls the one below several times."""
    made = model([node(f"F{levels}", ["x"], ["y"], domain="own")], {})
    made.opset_import.append(helper.make_opsetid("own", 1))
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    for level in range(levels + 1):
        names = ["a", *(f"t{i}" for i in range(calls - 1)), "b"]
        operator, domain = ("Relu", "") if level == 0 else (f"F{level - 1}", "own")
        body = [node(operator, [names[i]], [names[i + 1]], domain=domain) for i in range(calls)]
        function = helper.make_function("own", f"F{level}", ["a"], ["b"], body, imports)
        made.functions.append(function)
    return made


def _recursive(*names: str) -> onnx.ModelProto:
    made = model([node(names[0], ["x"], ["y"], domain="own")], {})
    made.opset_import.append(helper.make_opsetid("own", 1))
    imports = [helper.make_opsetid("own", 1)]
    for at, name in enumerate(names):
        body = [node(names[(at + 1) % len(names)], ["a"], ["b"], domain="own")]
        made.functions.append(helper.make_function("own", name, ["a"], ["b"], body, imports))
    return made


def _loop(trips: int | None, result: str = "state") -> onnx.ModelProto:
    body = helper.make_graph(
        [node("Identity", ["go"], ["on"]), node("Relu", ["state"], ["next"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state", TensorProto.FLOAT, [2, 3]),
        ],
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [2, 3]),
        ],
    )
    weights = {"t": np.array(trips or 0, np.int64), "go": np.array(True)}
    name = "t" if trips is not None else ""
    return model([node("Loop", [name, "go", "x"], ["y"], body=body)], weights)


def _endless_branch() -> onnx.ModelProto:
    """A branch whose loop ends never; its shapes are known."""
    loop = _loop(None).graph.node[0]
    loop.output[0] = "l"
    fixed = node("Reshape", ["l", "shape"], ["o"])
    out = helper.make_tensor_value_info("o", 1, [2, 3])
    branch = helper.make_graph([loop, fixed], "b", [], [out])
    nodes = [
        node("ReduceSum", ["x"], ["s"], keepdims=0),
        node("Less", ["s", "far"], ["c"]),
        node("If", ["c"], ["y"], then_branch=branch, else_branch=branch),
    ]
    weights = {"go": np.array(True), "shape": _sizes(2, 3), "far": _float(1e30)}
    return model(nodes, weights)


def _external(location: str, size: int, **entries: str) -> onnx.ModelProto:
    made = model([node("Add", ["x", "w"], ["y"])], {"w": np.ones(3, np.float32)})
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.dims[0] = size
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=value)
    return made


def _typed(element_type: int, weight: bool) -> onnx.ModelProto:
    made = model([node("Add", ["x", "w"], ["y"])], {"w": np.ones(3, np.float32)})
    if weight:
        made.graph.initializer[0].data_type = element_type
    else:
        made.graph.input[0].type.tensor_type.elem_type = element_type
    return made


def _changed(change: Callable[[onnx.ModelProto], object], *nodes: onnx.NodeProto, **weights):
    made = model(nodes or [node("Add", ["x", "w"], ["y"])], weights or {"w": ONE})
    change(made)
    return made


def _versions(ir: int = 8, *opsets: tuple[str, int]) -> onnx.ModelProto:
    def change(made: onnx.ModelProto) -> None:
        made.ir_version = ir
        del made.opset_import[:]
        made.opset_import.extend(helper.make_opsetid(*opset) for opset in opsets)

    return _changed(change)


def greedy() -> Iterator[tuple[str, onnx.ModelProto]]:
    """What asks for time or memory."""
    n = _sizes(HUGE)
    yield "expand", _added(node("Expand", ["one", "n"], ["k"]), one=ONE, n=n)
    yield "constant of shape", _added(node("ConstantOfShape", ["n"], ["k"]), n=n)
    yield "tile", _added(node("Tile", ["one", "n"], ["k"]), one=ONE, n=n)
    limits = {"a": np.array(0, np.int64), "b": np.array(HUGE, np.int64), "c": np.array(1, np.int64)}
    cast = node("Cast", ["r"], ["k"], to=1)
    yield "range", _added(node("Range", ["a", "b", "c"], ["r"]), cast, **limits)
    yield "pad of a constant", _added(node("Pad", ["one", "n"], ["k"]), one=ONE, n=_sizes(0, HUGE))
    square = np.ones((1, 1, 2, 2), np.float32)
    large = node("Resize", ["one", "", "", "n"], ["k"])
    yield "resize", _added(large, one=square, n=_sizes(1, 1, 1 << 15, 1 << 15))
    wide = {"n": _sizes(1, 3, 1 << 20, 14)}
    stretched = node("Resize", ["x", "", "", "n"], ["r"], mode="linear")
    yield "a large output", _image(stretched, node("Tanh", ["r"], ["y"]), **wide)
    yield "eye", _added(node("EyeLike", ["z"], ["k"]), z=np.zeros((1, 1), np.float32))
    yield "many constants", _constant_chain(500, 1 << 20, twice=False)
    yield "constants of both", _constant_chain(60, 5000, twice=True)
    yield "a long chain of constants", _constant_chain(3000, 100, twice=False)
    yield "an input of 10^12", _of_shape(10**6, 10**6)
    yield "an image of 10^12", _of_shape(1, 3, 10**6, 10**6, operator="GlobalAveragePool")
    yield "an input of 2^28", _of_shape(1, 64, 2048, 2048)
    yield "an input of 2^27", _of_shape(1, 32, 2048, 2048, operator="Sigmoid")
    yield "local normalisation", _image(node("LRN", ["x"], ["y"], size=2**31 + 1))
    yield "pads", _image(node("Pad", ["x", "p"], ["y"]), p=_sizes(0, 0, 0, 0, 0, 0, 2**40, 0))
    pool = {"kernel_shape": [2**31, 2**31], "pads": [2**30] * 4}
    yield "kernel", _image(node("MaxPool", ["x"], ["y"], **pool))
    pool = {"kernel_shape": [3, 3], "pads": [2**40] * 4}
    yield "pads of a pool", _image(node("MaxPool", ["x"], ["y"], **pool))
    pool = {"kernel_shape": [2**20, 2**20], "pads": [2**19] * 4, "count_include_pad": 1}
    yield "a large window", _image(node("AveragePool", ["x"], ["y"], **pool))
    pool = {"kernel_shape": [2, 2], "strides": [2**40, 1]}
    yield "a long stride", _image(node("MaxPool", ["x"], ["y"], **pool))
    w = np.ones((3, 1, 1, 1), np.float32)
    yield "dilations", _image(node("Conv", ["x", "w"], ["y"], group=3, dilations=[2**40] * 2), w=w)
    yield (
        "upsampled",
        _image(node("Resize", ["x", "", "s"], ["y"]), s=np.array([1, 1, 1e4, 1e4], np.float32)),
    )
    yield "tiled", _image(node("Tile", ["x", "n"], ["y"]), n=_sizes(1, 1, 10**5, 10**5))
    yield "expanded", _image(node("Expand", ["x", "n"], ["y"]), n=_sizes(10**9, 3, 8, 8))
    yield "one hot", _image(
        node("Cast", ["x"], ["i"], to=7), node("OneHot", ["i", "d", "v"], ["y"]),
        d=_sizes(10**10), v=np.array([0, 1], np.float32),
    )  # fmt: skip
    yield "20 001 nodes", _chain(20_001)
    yield "20 000 nodes", _chain(20_000)
    yield "deep branches", _nested(28)
    yield "deeper branches", _nested(18)
    yield "branches that misfit", _misfits(22)
    yield "functions of functions", _functions(12, 10)
    yield "a loop of 10^9", _loop(HUGE)
    yield "a loop without an end", _loop(None)
    yield "a branch without an end", _endless_branch()
    yield "external data of 10^15", _external("m.onnx", 10**15)
    made = model([node("Add", ["x", "w"], ["y"])], {"w": ONE})
    made.graph.initializer[0].dims[:] = [10**6] * 3
    yield "a weight of 10^18", made
    split = node("Split", ["x"], [f"s{i}" for i in range(10_000)], axis=1)
    yield "a split in 10 000", model([split, node("Concat", list(split.output), ["y"])], {})


def broken() -> Iterator[tuple[str, onnx.ModelProto]]:
    """What contradicts itself, or the standard."""
    for kind in (0, 8, 14, 15, 17, 20, 21, 22, 23, 24, 25, 26, 27, 28, 99, -1):
        yield f"weight of type {kind}", _typed(kind, weight=True)
        yield f"input of type {kind}", _typed(kind, weight=False)
    yield "function of itself", _recursive("F")
    yield "functions of each other", _recursive("F", "G", "H")
    yield (
        "missing function",
        _changed(
            lambda m: m.opset_import.append(helper.make_opsetid("own", 1)),
            node("F", ["x"], ["y"], domain="own"),
        ),
    )
    yield "no opset", _versions()
    yield "no default opset", _versions(8, ("own", 1))
    yield "two opsets", _versions(8, ("", 17), ("", 13))
    yield "two names of one opset", _versions(8, ("", 17), ("ai.onnx", 13))
    for opset in (0, -1, 1, 6, 9999, 2**40):
        yield f"opset {opset}", _versions(8, ("", opset))
    for ir in (0, 1, 2, 3, 9999, -1, 2**62):
        yield f"IR {ir}", _versions(ir, ("", 17))
    yield from _broken_names()
    yield from _broken_graphs()
    yield from _broken_attributes()


def _broken_names() -> Iterator[tuple[str, onnx.ModelProto]]:
    raw = onnx.NodeProto.FromString
    for field in (b"\x0a", b"\x12", b"\x1a", b"\x22", b"\x3a"):
        bad = raw(field + b"\x02\xff\xfe")
        yield f"no text {field!r}", _changed(lambda m, b=bad: m.graph.node[0].MergeFrom(b))
    for place in ("input", "output", "initializer", "value_info"):

        def spoil(made: onnx.ModelProto, place: str = place) -> None:
            item = getattr(made.graph, place).add()
            item.ParseFromString(b"\x0a\x02\xff\xfe" if place != "initializer" else b"\x42\x01\xff")

        yield f"no text {place}", _changed(spoil)

        def empty(made: onnx.ModelProto, place: str = place) -> None:
            getattr(made.graph, place).add()

        yield f"no name {place}", _changed(empty)
    add = node("Add", ["x", "w"], ["y"])
    split = node("Split", ["x"], ["y", "y"], axis=0)
    yield "two outputs of a node in one", model([split], {})
    yield "written twice", _changed(lambda m: m.graph.node.append(add))
    yield "cycle", model([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]),
                          node("Relu", ["b"], ["y"])], {})  # fmt: skip
    yield "undefined input", model([node("Add", ["x", "nowhere"], ["y"])], {})
    yield "two inputs of a name", _changed(lambda m: m.graph.input.append(m.graph.input[0]))
    yield (
        "two weights of a name",
        _changed(lambda m: m.graph.initializer.append(m.graph.initializer[0])),
    )
    yield "two outputs of a name", _changed(lambda m: m.graph.output.append(m.graph.output[0]))
    yield (
        "an initialiser that is an input",
        _changed(lambda m: m.graph.input.append(helper.make_tensor_value_info("w", 1, [7, 7]))),
    )
    yield (
        "an initialiser with the input's name",
        _changed(lambda m: m.graph.initializer.append(numpy_helper.from_array(ONE, "x"))),
    )
    yield "long names", model([node("Relu", ["x"], ["t" * 10**6], name="n" * 10**6),
                               node("Relu", ["t" * 10**6], ["y"])], {})  # fmt: skip


def _broken_graphs() -> Iterator[tuple[str, onnx.ModelProto]]:
    def renamed(name: str) -> Callable[[onnx.ModelProto], None]:
        def change(made: onnx.ModelProto) -> None:
            made.graph.output[0].name = name

        return change

    yield "the output is the input", _changed(renamed("x"))
    yield "the output is a weight", _changed(renamed("w"))
    yield "the output is nothing", _changed(renamed("nowhere"))
    yield "no output", _changed(lambda m: m.graph.ClearField("output"))
    yield "no input", _changed(lambda m: m.graph.ClearField("input"))
    yield "no node", _changed(lambda m: m.graph.ClearField("node"))
    yield "no graph", _changed(lambda m: m.ClearField("graph"))
    yield "empty concat", model([node("Concat", [], ["y"], axis=0)], {})
    yield "no input of a node", model([node("Relu", [], ["y"])], {})
    yield "no output of a node", model([node("Relu", ["x"], [])], {})
    for dims in ((0,), (0, 3), (2, 0), (2, -3), (1, 3, 0, 0), (), (1,) * 9, (2,) * 70):
        yield f"shape {dims}", _of_shape(*dims)
        yield f"softmax of {dims}", _of_shape(*dims, operator="Softmax")
        yield f"pool of {dims}", _of_shape(*dims, operator="GlobalAveragePool")
        yield f"concat of {dims}", _of_shape(*dims, operator="Concat")
    for operator in ("Add", "MatMul", "Conv", "Gemm", "Gather", "Concat"):
        made = model([node(operator, ["x", "w"], ["y"])], {"w": np.ones((5, 7, 2), np.float32)})
        yield f"inconsistent {operator}", made
    yield "value_info that lies", _changed(
        lambda m: m.graph.value_info.append(helper.make_tensor_value_info("t", 1, [9, 9, 9])),
        node("Relu", ["x"], ["t"]), node("Relu", ["t"], ["y"]),
    )  # fmt: skip
    yield (
        "an output that lies",
        _changed(lambda m: m.graph.output[0].type.tensor_type.shape.Clear()),
    )
    for raw in (b"", b"\0", b"\0" * 5, b"\0" * 400):

        def data(made: onnx.ModelProto, raw: bytes = raw) -> None:
            made.graph.initializer[0].raw_data = raw

        yield f"{len(raw)} bytes of a weight", _changed(data)
    yield "raw data and a list", _changed(lambda m: m.graph.initializer[0].float_data.append(1))
    for location in ("../../etc/passwd", "/etc/passwd", "/dev/zero", "", ".", "a\0b", "m.onnx"):
        yield f"data in {location!r}", _external(location, 3)
    for key in ("offset", "length"):
        for value in ("-1", "x", "9" * 5000, "1e3", "12"):
            yield f"{key} {value[:9]}", _external("m.onnx", 3, **{key: value})


def _broken_attributes() -> Iterator[tuple[str, onnx.ModelProto]]:
    chosen: Mapping[str, tuple[dict, ...]] = {
        "Concat": ({}, {"axis": 4}, {"axis": -9}, {"axis": 2**62}, {"axis": 1.5}, {"axis": "a"}),
        "Softmax": ({"axis": 7}, {"axis": -(2**63)}, {"axis": [1]}),
        "Transpose": ({"perm": [0]}, {"perm": [0, 0]}, {"perm": [5, 6]}, {"perm": [-1, 0]}),
        "Flatten": ({"axis": 3}, {"axis": -(2**40)}),
        "LeakyRelu": ({"alpha": float("nan")}, {"alpha": 1e38}, {"alpha": 3}),
        "Elu": ({"alpha": float("inf")},),
        "Cast": ({}, {"to": 0}, {"to": 8}, {"to": 99}, {"to": 2**40}, {"to": 14}),
        "Split": ({"axis": 9}, {"num_outputs": 0}),
        "ReduceMean": ({"axes": [9]}, {"axes": []}, {"axes": [0, 0]}, {"keepdims": 7}),
        "LayerNormalization": ({"axis": 9},),
        "Upsample": ({},),
        "Dropout": ({"ratio": 2.0},),
    }
    for operator, attributes in chosen.items():
        for attribute in attributes:
            yield f"{operator} {attribute}", model([node(operator, ["x"], ["y"], **attribute)], {})
    images: Mapping[str, tuple[dict, ...]] = {
        "MaxPool": (
            {}, {"kernel_shape": []}, {"kernel_shape": [0, 0]}, {"kernel_shape": [-1, 2]},
            {"kernel_shape": [2]}, {"kernel_shape": [2, 2], "strides": [0, 0]},
            {"kernel_shape": [2, 2], "strides": [-1, 1]}, {"kernel_shape": [2, 2], "pads": [1]},
            {"kernel_shape": [2, 2], "pads": [-5] * 4}, {"kernel_shape": [2, 2], "auto_pad": "X"},
            {"kernel_shape": [2, 2], "dilations": [0, 0]}, {"kernel_shape": [2, 2], "ceil_mode": 9},
        ),
        "DepthToSpace": ({}, {"blocksize": 0}, {"blocksize": -2}, {"blocksize": 2**40}),
        "SpaceToDepth": ({"blocksize": 0}, {"blocksize": 3}),
        "LRN": ({}, {"size": 0}, {"size": -3}, {"size": 4}),
        "LpPool": ({"kernel_shape": [2, 2], "p": 0},),
        "MeanVarianceNormalization": ({"axes": [7]}, {"axes": []}),
    }  # fmt: skip
    for operator, attributes in images.items():
        for options in attributes:
            yield f"{operator} {options}", _image(node(operator, ["x"], ["y"], **options))
    conv: tuple[dict, ...] = (
        {"group": 0}, {"group": -1}, {"group": 2}, {"group": 2**40}, {"strides": [0, 0]},
        {"kernel_shape": [5, 5]}, {"pads": [1, 1]}, {"dilations": [0, 1]}, {"dilations": [-1, 1]},
        {"auto_pad": "SAME_UPPER", "strides": [0, 1]},
    )  # fmt: skip
    for operator in ("Conv", "ConvTranspose"):
        for options in conv:
            w = np.ones((3, 3, 2, 2), np.float32)
            yield f"{operator} {options}", _image(node(operator, ["x", "w"], ["y"], **options), w=w)
    for ints in ([0, 0], [-1, -1], [-5, 2], [2**62, 3], [7], []):
        made = model([node("Reshape", ["x", "s"], ["y"])], {"s": np.array(ints, np.int64)})
        yield f"reshape to {ints}", made
