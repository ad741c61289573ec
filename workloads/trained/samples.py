#!/usr/bin/python3
"""Samples and labels that quantisation is calibrated and measured with.

  /usr/bin/python3 samples.py NODE_MODULES SAMPLES

Digits come from node's package `mnist`, beats from workloads/ecg, heart beats of the MIT-BIH database
from the golden data beside the project, where they are. NAME_calib.npy, NAME_x.npy, NAME_y.npy each.
"""
import json
import pathlib
import sys

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
SHARED = FOLDER / "../../../shared/data"
ECG_STEP_MV = 0.02  # workloads/ecg/frontend.py: millivolts a step of its int8 beats
ARTEFACT = 4


def digits(modules):
    """The package's 10,000 digits, shuffled: every fifth is held out. (x, y, held x, held y)"""
    images, labels = [], []
    for digit in range(10):
        values = json.loads((modules / f"mnist/src/digits/{digit}.json").read_text())["data"]
        images.append(np.array(values, np.float32).reshape(-1, 1, 28, 28))
        labels.append(np.full(len(images[-1]), digit, np.int64))
    x, y = np.concatenate(images), np.concatenate(labels)
    order = np.random.default_rng(7).permutation(len(x))
    x, y = x[order], y[order]
    held = np.arange(len(x)) % 5 == 0
    return x[~held], y[~held], x[held], y[held]


def beats():
    """workloads/ecg's held-out beats in millivolts: the first 1,000 to train with, 600 held out."""
    x = np.load(FOLDER / "../ecg/heldout_x.npy").reshape(-1, 256).astype(np.float32) * ECG_STEP_MV
    y = np.load(FOLDER / "../ecg/heldout_y.npy").astype(np.int64)
    return x[:1000], y[:1000], x[1000:], y[1000:]


def write(folder, name, calibration, x, y):
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{name}_calib.npy", np.ascontiguousarray(calibration, np.float32))
    np.save(folder / f"{name}_x.npy", np.ascontiguousarray(x, np.float32))
    np.save(folder / f"{name}_y.npy", y.astype(np.int64))


def main(modules, folder):
    x, _, held_x, held_y = digits(modules)
    write(folder, "digits", x[:512], held_x, held_y)
    write(folder, "mnist", x[:512] * 255, held_x * 255, held_y)  # the public model wants bytes
    x, y, held_x, held_y = beats()
    write(folder, "beats", x[y != ARTEFACT][:512], held_x, held_y == ARTEFACT)
    if (SHARED / "ecg_beats/X_f32.bin").exists():
        x = np.fromfile(SHARED / "ecg_beats/X_f32.bin", np.float32).reshape(-1, 260)
        y = np.fromfile(SHARED / "ecg_beats/y_u8.bin", np.uint8)
        chosen = np.arange(len(x)) % 4 == 0  # never measured with
        write(folder, "heartbeats", x[chosen], x[~chosen], y[~chosen])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
