"""Post-training int8 quantisation by TFLite's specification: weights symmetric in [-127, 127] (one
scale a channel for convolutions, one a tensor for fully connected layers), int32 biases at s_in *
s_w, asymmetric activations from the range seen on training data, pools and reshapes keep their
input's scale, softmax gives (1/256, -128). Scales are rounded to float32 before anything is
quantised with them.
"""
import numpy as np

import fit
import frontend
import layers


def activation_params(low, high):
    """(scale, zero point) of int8 over a range that includes 0."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = np.float32((high - low) / 255.0)
    return float(scale), int(np.clip(np.rint(-128 - low / scale), -128, 127))


def observe(weights, x, batch=500):
    """{layer: (min, max)} of every layer's output on calibration inputs x (float mV)."""
    ranges = {}
    for i in range(0, len(x), batch):
        kept = {}
        layers.forward(weights, x[i : i + batch], kept)
        for name, value in kept.items():
            low, high = ranges.get(name, (np.inf, -np.inf))
            ranges[name] = (min(low, float(value.min())), max(high, float(value.max())))
    return ranges


def tensor(name, shape, dtype, scale=None, zero=None, axis=0, data=None):
    return dict(
        name=name, shape=list(shape), dtype=dtype, scale=scale, zero=zero, axis=axis, data=data
    )


def quantise_weights(w, b, s_in, per_channel):
    """w [cout, fan_in] -> (int8 w, scales [cout or 1], int32 b)."""
    top = np.abs(w).max(axis=1) if per_channel else np.abs(w).max(keepdims=True).reshape(-1)[:1]
    scales = np.where(top > 0, top / 127.0, 1.0).astype(np.float32).astype(np.float64)
    q = np.clip(np.rint(w / scales[:, None]), -127, 127).astype(np.int8)
    bias_scale = s_in * scales
    return q, scales, np.rint(b / bias_scale).astype(np.int32)


def layout(layer, q):
    """The filter in TFLite's order: conv [O, 1, k, I], depthwise [1, 1, k, C], dense [O, I]; its
    axis."""
    if layer["op"] == "conv":
        return q.reshape(layer["cout"], 1, layer["k"], layer["cin"]), 0
    if layer["op"] == "depthwise":
        return q.T.reshape(1, 1, layer["k"], layer["cout"]), 3
    return q, 0


def quantise(weights, calibration):
    """Float weights and calibration inputs (float mV) -> dict(tensors=[...], ops=[...], input=,
    output=)."""
    ranges = observe(weights, calibration)
    tensors = [
        tensor(
            "beat",
            (1, 1, layers.INPUT_WIDTH, 1),
            "INT8",
            [float(np.float32(frontend.STEP_MV))],
            [0],
        )
    ]
    ops, index_of, width = [], {}, layers.INPUT_WIDTH
    current = 0
    for layer in layers.NETWORK:
        op, name, inputs = layer["op"], layer["name"], [current]
        s_in, z_in = tensors[current]["scale"][0], tensors[current]["zero"][0]
        if op in ("maxpool", "avgpool", "reshape"):
            s_out, z_out = s_in, z_in
        else:
            s_out, z_out = activation_params(*ranges[name])
        if op in ("conv", "depthwise", "dense"):
            q, scales, bias = quantise_weights(*weights[name], s_in, per_channel=op != "dense")
            data, axis = layout(layer, q)
            tensors.append(
                tensor(
                    name + "/weights",
                    data.shape,
                    "INT8",
                    scales.tolist(),
                    [0] * len(scales),
                    axis,
                    data,
                )
            )
            tensors.append(
                tensor(
                    name + "/bias",
                    bias.shape,
                    "INT32",
                    (s_in * scales).tolist(),
                    [0] * len(scales),
                    0,
                    bias,
                )
            )
            inputs += [len(tensors) - 2, len(tensors) - 1]
        elif op == "add":
            inputs.append(index_of[layer["other"]])
        elif op == "reshape":
            shape = np.array([1, layer["cout"]], np.int32)
            tensors.append(tensor(name + "/shape", (2,), "INT32", data=shape))
            inputs.append(len(tensors) - 1)
        if op in ("maxpool", "avgpool"):
            width //= layer["k"]
        elif op == "conv":
            width = -(-width // layer["stride"])
        shape = (1, layer["cout"]) if op in ("reshape", "dense") else (1, 1, width, layer["cout"])
        tensors.append(tensor(name, shape, "INT8", [s_out], [z_out]))
        current = index_of[name] = len(tensors) - 1
        ops.append(
            dict(
                op=op,
                inputs=inputs,
                output=current,
                relu=bool(layer.get("relu")),
                stride=layer.get("stride", layer.get("k") if "pool" in op else 1),
                k=layer.get("k", 1),
            )
        )
    tensors.append(tensor("class", (1, 5), "INT8", [1.0 / 256], [-128]))
    ops.append(
        dict(op="softmax", inputs=[current], output=len(tensors) - 1, relu=False, stride=1, k=1)
    )
    return dict(tensors=tensors, ops=ops, input=0, output=len(tensors) - 1)


def float_classes(weights, x):
    """Class indices by the float network of int8 windows x [n, 256]."""
    return fit.predict(weights, x.astype(np.float32) * np.float32(frontend.STEP_MV)).argmax(axis=1)
