"""Runs the quantised network in exact integer arithmetic, in the `tflite` mode (two roundings) or
the `fp32` mode; they differ in the layers with weights. Slow and plain: a reference."""

import numpy as np

import fixed_point as fx
from layers import same_pad


def _finish(acc, op, tensors, multipliers, mode):
    out = tensors[op["output"]]
    scaled = (
        fx.multiply(acc, multipliers) if mode == "tflite" else fx.multiply_float(acc, multipliers)
    )
    zero = out["zero"][0]
    return np.clip(scaled + zero, zero if op["relu"] else -128, 127).astype(np.int8)


def _multipliers(x, w, out, mode):
    if mode == "tflite":
        return [x["scale"][0] * s / out["scale"][0] for s in w["scale"]]
    f = np.float32
    return [f(f(x["scale"][0]) * f(s)) / f(out["scale"][0]) for s in w["scale"]]


def _add(a, b, ta, tb, out, op):
    """TFLite's ADD: both inputs in units of 2 max(scales) / 2^20, summed, rescaled."""
    twice = 2 * max(ta["scale"][0], tb["scale"][0])
    parts = [
        fx.multiply((v.astype(np.int64) - t["zero"][0]) << 20, [t["scale"][0] / twice])
        for v, t in ((a, ta), (b, tb))
    ]
    total = fx.multiply(parts[0] + parts[1], [twice / (2**20 * out["scale"][0])]) + out["zero"][0]
    return np.clip(total, out["zero"][0] if op["relu"] else -128, 127).astype(np.int8)


def run(network, x, mode="tflite", keep=None):
    """x int8 [n, 256] -> int8 [n, 5]. `keep`, a dict, gets every activation by tensor name, [n, w,
    c]."""
    tensors = network["tensors"]
    values = {network["input"]: x[:, :, None]}
    for op in network["ops"]:
        first, out = tensors[op["inputs"][0]], tensors[op["output"]]
        v, kind = values[op["inputs"][0]], op["op"]
        if kind in ("conv", "depthwise"):
            w, bias = tensors[op["inputs"][1]], tensors[op["inputs"][2]]["data"].astype(np.int64)
            width, left, right = same_pad(v.shape[1], op["k"], op["stride"])
            centred = np.pad(v.astype(np.int64) - first["zero"][0], ((0, 0), (left, right), (0, 0)))
            filters = w["data"].astype(np.int64)
            acc = np.broadcast_to(bias, (len(v), width, len(bias))).copy()
            for t in range(op["k"]):
                tap = centred[:, t : t + (width - 1) * op["stride"] + 1 : op["stride"]]
                if kind == "conv":  # exact in float64: |sum| < 2^53
                    acc += (tap.astype(np.float64) @ filters[:, 0, t].T.astype(np.float64)).astype(
                        np.int64
                    )
                else:
                    acc += tap * filters[0, 0, t]
            result = _finish(acc, op, tensors, _multipliers(first, w, out, mode), mode)
        elif kind == "dense":
            w, bias = tensors[op["inputs"][1]], tensors[op["inputs"][2]]["data"].astype(np.int64)
            acc = (v.astype(np.int64) - first["zero"][0]) @ w["data"].astype(np.int64).T + bias
            result = _finish(acc, op, tensors, _multipliers(first, w, out, mode), mode)
        elif kind == "add":
            result = _add(v, values[op["inputs"][1]], first, tensors[op["inputs"][1]], out, op)
        elif kind == "maxpool":
            result = v.reshape(len(v), -1, op["k"], v.shape[2]).max(axis=2)
        elif kind == "avgpool":
            s = v.astype(np.int64).reshape(len(v), -1, op["k"], v.shape[2]).sum(axis=2)
            result = (np.sign(s) * ((np.abs(s) + op["k"] // 2) // op["k"])).astype(np.int8)
        elif kind == "reshape":
            result = v.reshape(len(v), -1)
        else:
            result = fx.softmax(v, first["scale"][0])
        values[op["output"]] = result
        if keep is not None:
            keep[out["name"]] = result
    return values[network["output"]]


def classes(network, x, mode="tflite", batch=200):
    return np.concatenate(
        [run(network, x[i : i + batch], mode).argmax(axis=1) for i in range(0, len(x), batch)]
    )
