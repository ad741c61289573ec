"""The quantised network as a .tflite file, through JSON by the project's schema and `flatc`; and
back."""
import json
import pathlib
import struct
import subprocess
import tempfile

import numpy as np

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "delegate" / "import" / "tflite.fbs"
# The format's operator numbers and the version at which each takes int8 (per channel for
# convolutions).
OPERATORS = {
    "add": (0, 2),
    "avgpool": (1, 2),
    "conv": (3, 3),
    "depthwise": (4, 3),
    "dense": (9, 4),
    "maxpool": (17, 2),
    "reshape": (22, 1),
    "softmax": (25, 2),
}


def options(op, tensors):
    activation = "RELU" if op["relu"] else "NONE"
    kind = op["op"]
    if kind == "conv":
        return "Conv2DOptions", dict(
            padding="SAME", stride_w=op["stride"], stride_h=1, activation=activation
        )
    if kind == "depthwise":
        return "DepthwiseConv2DOptions", dict(
            padding="SAME", stride_w=1, stride_h=1, depth_multiplier=1, activation=activation
        )
    if kind in ("maxpool", "avgpool"):
        return "Pool2DOptions", dict(
            padding="VALID",
            stride_w=op["stride"],
            stride_h=1,
            filter_w=op["k"],
            filter_h=1,
            activation=activation,
        )
    if kind == "dense":
        return "FullyConnectedOptions", dict(activation=activation)
    if kind == "add":
        return "AddOptions", dict(activation=activation)
    if kind == "reshape":
        return "ReshapeOptions", dict(new_shape=tensors[op["output"]]["shape"])
    return "SoftmaxOptions", dict(beta=1.0)


def to_json(network, description):
    buffers = [dict()]  # buffer 0 means "no data"
    tensors = []
    for t in network["tensors"]:
        entry = dict(shape=t["shape"], type=t["dtype"], buffer=0, name=t["name"])
        if t["data"] is not None:
            entry["buffer"] = len(buffers)
            buffers.append(dict(data=list(t["data"].tobytes())))
        if t["scale"] is not None:
            entry["quantization"] = dict(
                scale=t["scale"], zero_point=t["zero"], quantized_dimension=t["axis"]
            )
        tensors.append(entry)
    kinds = sorted({op["op"] for op in network["ops"]}, key=lambda k: OPERATORS[k][0])
    codes = [
        dict(byte_code=OPERATORS[k][0], code=OPERATORS[k][0], version=OPERATORS[k][1])
        for k in kinds
    ]
    operators = []
    for op in network["ops"]:
        name, fields = options(op, network["tensors"])
        operators.append(
            dict(
                opcode_index=kinds.index(op["op"]),
                inputs=op["inputs"],
                outputs=[op["output"]],
                options_type=name,
                options=fields,
            )
        )
    graph = dict(
        tensors=tensors,
        inputs=[network["input"]],
        outputs=[network["output"]],
        operators=operators,
        name="main",
    )
    return dict(
        version=3, operator_codes=codes, subgraphs=[graph], description=description, buffers=buffers
    )


def write(network, path, description):
    """Replaces `path`. Raises CalledProcessError with flatc's message when the JSON does not fit
    the schema."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / (pathlib.Path(path).stem + ".json")
        source.write_text(json.dumps(to_json(network, description)))
        subprocess.run(["flatc", "-b", "-o", folder, str(SCHEMA), str(source)], check=True)
        pathlib.Path(path).write_bytes(source.with_suffix(".tflite").read_bytes())


class Table:
    """A flatbuffer table: fields by id. (flatc's JSON shortens floats, so it cannot be read back
    exactly.)"""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - struct.unpack_from("<i", data, at)[0]

    def place(self, field):
        slot = 4 + 2 * field
        if slot >= struct.unpack_from("<H", self.data, self.vtable)[0]:
            return None
        offset = struct.unpack_from("<H", self.data, self.vtable + slot)[0]
        return self.at + offset if offset else None

    def scalar(self, field, code="<i", default=0):
        at = self.place(field)
        return default if at is None else struct.unpack_from(code, self.data, at)[0]

    def _follow(self, at):
        return at + struct.unpack_from("<I", self.data, at)[0]

    def table(self, field):
        at = self.place(field)
        return None if at is None else Table(self.data, self._follow(at))

    def array(self, field, kind):
        """A vector of scalars as a numpy array, None if absent."""
        at = self.place(field)
        if at is None:
            return None
        start = self._follow(at)
        return np.frombuffer(
            self.data, kind, struct.unpack_from("<I", self.data, start)[0], start + 4
        )

    def tables(self, field):
        start = self._follow(self.place(field))
        count = struct.unpack_from("<I", self.data, start)[0]
        return [Table(self.data, self._follow(start + 4 + 4 * i)) for i in range(count)]


def read(path):
    """The network in a file of write(), as quantise.quantise() gives it, from the file's bytes
    alone. Field numbers are the schema's. For files of our own: nothing is checked."""
    data = pathlib.Path(path).read_bytes()
    model = Table(data, struct.unpack_from("<I", data, 0)[0])
    graph, buffers = model.tables(2)[0], model.tables(4)
    names = {number: name for name, (number, _) in OPERATORS.items()}
    codes = [names[c.scalar(3)] for c in model.tables(1)]
    tensors, ops = [], []
    for t in graph.tables(0):
        shape, dtype = t.array(0, "<i4").tolist(), {9: "INT8", 2: "INT32"}[t.scalar(1, "<b")]
        content = buffers[t.scalar(2, "<I")].array(0, np.uint8)
        if content is not None:
            content = content.view(np.int8 if dtype == "INT8" else "<i4")
        q = t.table(4)
        scale = q.array(2, "<f4") if q else None
        tensors.append(
            dict(
                name=bytes(t.array(3, np.uint8)).decode(),
                shape=shape,
                dtype=dtype,
                scale=None if scale is None else scale.astype(np.float64).tolist(),
                zero=None if scale is None else q.array(3, "<i8").tolist(),
                axis=q.scalar(6) if q else 0,
                data=None if content is None else content.reshape(shape),
            )
        )
    for o in graph.tables(3):
        kind, fields, inputs = codes[o.scalar(0, "<I")], o.table(4), o.array(1, "<i4").tolist()
        k = tensors[inputs[1]]["shape"][2] if kind in ("conv", "depthwise") else 1
        stride = fields.scalar(1) if kind in ("conv", "maxpool", "avgpool") else 1
        if kind in ("maxpool", "avgpool"):
            k = fields.scalar(3)
        place = {"conv": 3, "depthwise": 4, "dense": 0, "add": 0}.get(kind)
        relu = place is not None and fields.scalar(place, "<b") == 1
        ops.append(
            dict(
                op=kind,
                inputs=inputs,
                output=int(o.array(2, "<i4")[0]),
                k=k,
                relu=relu,
                stride=stride,
            )
        )
    return dict(
        tensors=tensors,
        ops=ops,
        input=int(graph.array(1, "<i4")[0]),
        output=int(graph.array(2, "<i4")[0]),
    )
