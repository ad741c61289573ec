"""The network and its float32 training arithmetic in numpy, forward and backward.

Activations are held as [channels, width, batch]: a pointwise convolution is then one matrix product
and a depthwise one is a few long vector operations. Weights are held as TFLite has them (channels
last) only when exported.
"""
import numpy as np

# The network, one entry a layer. Every layer reads the one before it; `add` also reads the output
# of the named layer. SAME padding everywhere. Widths: 256 -> 128 -> pool 64 -> pool 32 -> pool 8.
NETWORK = [
    dict(name="stem", op="conv", k=7, stride=2, cin=1, cout=24, relu=True),
    dict(name="dw1", op="depthwise", k=5, cin=24, cout=24, relu=True),
    dict(name="pw1", op="conv", k=1, stride=1, cin=24, cout=24, relu=False),
    dict(name="add1", op="add", other="stem", relu=True, cout=24),
    dict(name="pool1", op="maxpool", k=2, cout=24),
    dict(name="dw2", op="depthwise", k=5, cin=24, cout=24, relu=True),
    dict(name="pw2", op="conv", k=1, stride=1, cin=24, cout=40, relu=True),
    dict(name="dw3", op="depthwise", k=5, cin=40, cout=40, relu=True),
    dict(name="pw3", op="conv", k=1, stride=1, cin=40, cout=40, relu=False),
    dict(name="add2", op="add", other="pw2", relu=True, cout=40),
    dict(name="pool2", op="maxpool", k=2, cout=40),
    dict(name="dw4", op="depthwise", k=7, cin=40, cout=40, relu=True),
    dict(name="pw4", op="conv", k=1, stride=1, cin=40, cout=56, relu=True),
    dict(name="dw5", op="depthwise", k=7, cin=56, cout=56, relu=True),
    dict(name="pw5", op="conv", k=1, stride=1, cin=56, cout=56, relu=False),
    dict(name="add3", op="add", other="pw4", relu=True, cout=56),
    dict(name="pool3", op="avgpool", k=4, cout=56),
    dict(name="flatten", op="reshape", cout=448),
    dict(name="fc1", op="dense", cin=448, cout=24, relu=True),
    dict(name="fc2", op="dense", cin=24, cout=5, relu=False),
]
INPUT_WIDTH = 256


def same_pad(width, k, stride):
    """TFLite's SAME: (output width, taps outside on the left, on the right)."""
    out = -(-width // stride)
    total = max((out - 1) * stride + k - width, 0)
    return out, total // 2, total - total // 2


def init_weights(seed):
    """He-scaled normal weights, zero biases: {layer: (w, b)}. conv w [cout, k*cin], depthwise [c,
    k], dense [cout, cin]."""
    rng = np.random.default_rng(seed)
    weights = {}
    for layer in NETWORK:
        if layer["op"] == "conv":
            shape = (layer["cout"], layer["k"] * layer["cin"])
        elif layer["op"] == "depthwise":
            shape = (layer["cout"], layer["k"])
        elif layer["op"] == "dense":
            shape = (layer["cout"], layer["cin"])
        else:
            continue
        w = rng.standard_normal(shape) * np.sqrt(2.0 / shape[1])
        weights[layer["name"]] = [w.astype(np.float32), np.zeros(shape[0], np.float32)]
    return weights


def columns(x, k, stride):
    """[c, w, n] -> patches [k*c, out*n], tap-major as in TFLite's [O, 1, k, I] filters."""
    if k == 1 and stride == 1:
        return x.reshape(x.shape[0], -1)
    out, left, right = same_pad(x.shape[1], k, stride)
    padded = np.pad(x, ((0, 0), (left, right), (0, 0)))
    taps = [padded[:, t : t + (out - 1) * stride + 1 : stride] for t in range(k)]
    return np.concatenate(taps, axis=0).reshape(k * x.shape[0], -1)


def banded(w, width):
    """Depthwise taps [c, k] as banded matrices [c, width, width]: out = banded @ in for each
    channel. More arithmetic than sliding, but as matrix products it takes less time."""
    k = w.shape[1]
    _, left, _ = same_pad(width, k, 1)
    matrix = np.zeros((w.shape[0], width, width), w.dtype)
    for t in range(k):
        o = np.arange(max(0, left - t), min(width, width + left - t))
        matrix[:, o, o + t - left] = w[:, t, None]
    return matrix


def forward(weights, x, keep=None):
    """x float32 [n, 256] in mV -> logits [n, 5]. With `keep`, a dict, stores every layer's
    output."""
    value = np.ascontiguousarray(x.T)[None]  # [1, 256, n]
    outputs = {} if keep is None else keep
    outputs["input"] = value
    for layer in NETWORK:
        op, n = layer["op"], value.shape[-1]
        if op == "conv":
            w, b = weights[layer["name"]]
            width = -(-value.shape[1] // layer["stride"])
            value = (w @ columns(value, layer["k"], layer["stride"]) + b[:, None]).reshape(
                -1, width, n
            )
        elif op == "depthwise":
            w, b = weights[layer["name"]]
            value = banded(w, value.shape[1]) @ value + b[:, None, None]
        elif op == "add":
            value = value + outputs[layer["other"]]
        elif op in ("maxpool", "avgpool"):
            grouped = value.reshape(value.shape[0], -1, layer["k"], n)
            value = grouped.max(axis=2) if op == "maxpool" else grouped.mean(axis=2)
        elif op == "reshape":
            value = value.transpose(1, 0, 2).reshape(-1, n)  # channels last, as in NHWC
        else:
            w, b = weights[layer["name"]]
            value = w @ value + b[:, None]
        if layer.get("relu"):
            value = np.maximum(value, 0)
        outputs[layer["name"]] = value
    return value.T


def backward(weights, kept, d_logits):
    """Gradients {layer: [dw, db]} from d_logits [n, 5] and the outputs kept by forward."""
    grads, pending = {}, {}
    d = np.ascontiguousarray(d_logits.T)
    for i in range(len(NETWORK) - 1, -1, -1):
        layer = NETWORK[i]
        name, op = layer["name"], layer["op"]
        below = kept[NETWORK[i - 1]["name"] if i else "input"]
        if name in pending:
            d = d + pending.pop(name)
        if layer.get("relu"):
            d = d * (kept[name] > 0)
        n = d.shape[-1]
        if op == "conv":
            cols = columns(below, layer["k"], layer["stride"])
            flat = d.reshape(d.shape[0], -1)
            grads[name] = [flat @ cols.T, flat.sum(axis=1)]
            if i == 0:
                return grads
            d = (weights[name][0].T @ flat).reshape(below.shape)  # only 1x1 below the stem
        elif op == "depthwise":
            w, width = weights[name][0], below.shape[1]
            _, left, _ = same_pad(width, layer["k"], 1)
            pairs = d @ below.transpose(0, 2, 1)  # [c, output, input]
            dw = [np.trace(pairs, offset=t - left, axis1=1, axis2=2) for t in range(layer["k"])]
            grads[name] = [np.stack(dw, axis=1), d.sum(axis=(1, 2))]
            d = banded(w, width).transpose(0, 2, 1) @ d
        elif op == "add":
            pending[layer["other"]] = d
        elif op == "maxpool":
            grouped = below.reshape(below.shape[0], -1, layer["k"], n)
            later = grouped[:, :, 1] > grouped[:, :, 0]  # the first of equals wins
            d = np.stack([np.where(later, 0, d), np.where(later, d, 0)], axis=2).reshape(
                below.shape
            )
        elif op == "avgpool":
            d = np.repeat(d / layer["k"], layer["k"], axis=1)
        elif op == "reshape":
            d = np.ascontiguousarray(
                d.reshape(below.shape[1], below.shape[0], n).transpose(1, 0, 2)
            )
        else:
            grads[name] = [d @ below.T, d.sum(axis=1)]
            d = weights[name][0].T @ d
    return grads


def count():
    """(parameters, multiply-accumulates of one inference)."""
    parameters = macs = 0
    width = INPUT_WIDTH
    for layer in NETWORK:
        op = layer["op"]
        if op in ("maxpool", "avgpool"):
            width //= layer["k"]
        elif op in ("conv", "depthwise", "dense"):
            width = -(-width // layer.get("stride", 1)) if op != "dense" else 1
            fan_in = (
                layer["k"] * (layer["cin"] if op == "conv" else 1)
                if op != "dense"
                else layer["cin"]
            )
            parameters += layer["cout"] * (fan_in + 1)
            macs += layer["cout"] * fan_in * width
    return parameters, macs
