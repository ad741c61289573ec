#!/usr/bin/python3
"""Trains the networks of the PPG and EEG streams, quantises them with `deputy quantize`, and writes
down what they do on signals that they never saw.

  heart_rate.tflite   8 s of light and motion at the wrist to beats a minute, less 110
  seizure.tflite      2 s of 22 channels of EEG to background or seizure
  results.json        held-out figures, float and int8

  /usr/bin/python3 train.py DEPUTY WORK [heart_rate|seizure]

DEPUTY is the built program: it generates the signals (`deputy stream SCENARIO --signal`), so that
training and streams have one generator. WORK is a folder for what can be thrown away. Needs
Debian's python3-torch. One thread and fixed seeds: the same machine and packages give the same
weights.
"""
import json
import pathlib
import subprocess
import sys

import numpy as np
import torch
from torch import nn

import networks

FOLDER = pathlib.Path(__file__).resolve().parent
STREAMS = FOLDER / "../../configs/streams"
UNIT = 32.0  # int8 steps that the networks take as 1
OFFSET = 110.0  # beats a minute that the network's 0 stands for
TRAIN, VALID, HELD = range(1001, 1241), range(501, 521), range(101, 141)


class Stream:
    def __init__(self, scenario, planes, channels, step, window):
        self.scenario = scenario
        self.planes, self.channels, self.step, self.window = planes, channels, step, window

    def record(self, deputy, work, seed, seconds):
        """Int8 as the DSP hands it over, [planes, samples, channels], and the labels' lines."""
        raw, text = work / f"{self.scenario}{seed}.raw", work / f"{self.scenario}{seed}.txt"
        subprocess.run([deputy, "stream", STREAMS / f"{self.scenario}.yaml",
                        "--with", f"source.seed={seed}", f"source.seconds={seconds}",
                        "--signal", raw, "--labels", text], check=True)
        x = np.fromfile(raw, np.int16).reshape(-1, self.planes, self.step, self.channels)
        x = x.transpose(1, 0, 2, 3).reshape(self.planes, -1, self.channels).astype(np.int32)
        raw.unlink()
        x = np.clip((x + 128) >> 8, -128, 127).astype(np.int8)
        return x, [line.split() for line in text.read_text().splitlines()]

    def windows(self, x, every):
        """Windows [n, planes, window, channels] and the number of the last sample of each."""
        ends = np.arange(self.window, x.shape[1] + 1, every)
        return np.stack([x[:, e - self.window:e] for e in ends]), ends - 1


PPG = Stream("ppg_heart_rate", 1, 4, 32, 256)
EEG = Stream("eeg_implant", 22, 1, 64, 512)


def heart_rates(deputy, work, seeds, every):
    xs, ys = [], []
    for seed in seeds:
        x, labels = PPG.record(deputy, work, seed, 600)
        rate = {int(line[0]): float(line[1]) for line in labels}
        x, last = PPG.windows(x, every)
        xs.append(x), ys.append([rate[e] - OFFSET for e in last])
    return np.concatenate(xs), np.concatenate(ys).astype(np.float32)[:, None]


def seizures(deputy, work, seeds, every, thin=1):
    """Windows that are a second or more in a seizure are seizure; those less are left out, and of
    those without only each `thin`th is taken."""
    xs, ys = [], []
    for seed in seeds:
        x, labels = EEG.record(deputy, work, seed, 1200)
        x, last = EEG.windows(x, every)
        inside = np.zeros(int(last[-1]) + 1, np.int32)
        at = [int(line[0]) for line in labels]
        for begin, end in zip(at[::2], at[1::2]):
            inside[begin:end] = 1
        total = np.concatenate([[0], np.cumsum(inside)])
        share = total[last + 1] - total[last + 1 - EEG.window]
        keep = (share == 0) & (np.arange(len(last)) % thin == 0) | (share >= 256)
        xs.append(x[keep]), ys.append(share[keep] >= 256)
    return np.concatenate(xs), np.concatenate(ys).astype(np.int64)


def fit(network, x, y, held, loss, epochs, batch, rate):
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    adam = torch.optim.AdamW(network.parameters(), rate, weight_decay=1e-2)
    steps = epochs * (len(x) // batch)
    turn = torch.optim.lr_scheduler.OneCycleLR(adam, rate, steps, pct_start=0.2)
    for epoch in range(epochs):
        network.train()
        order, total = torch.randperm(len(x)), 0.0
        for i in range(0, len(x) - batch + 1, batch):
            rows = order[i:i + batch]
            adam.zero_grad()
            value = loss(network(x[rows].float() / UNIT), y[rows])
            value.backward()
            adam.step(), turn.step()
            total += float(value) * batch
        print(f"epoch {epoch + 1}: loss {total / len(x):.4f}, validation {held(network):.4f}",
              flush=True)


def answers(network, x):
    network.eval()
    with torch.no_grad():
        return np.concatenate([network(torch.from_numpy(x[i:i + 512]).float() / UNIT).numpy()
                               for i in range(0, len(x), 512)])


def quantised(deputy, work, network, name, x, held_x, held_y, metric):
    """Exports, quantises, and returns the float and the int8 figure of the held-out windows.

    The input's scale must be one in UNIT and its zero point 0, as the DSP hands windows over: a
    calibration window has both ends of int8, and ranges are those that were seen.
    """
    shape = x.shape[1:]
    some = x[np.random.default_rng(5).permutation(len(x))[:600]].astype(np.float32) / UNIT
    some[0].flat[:2] = -128 / UNIT, 127 / UNIT
    np.save(work / "calib.npy", some)
    np.save(work / "x.npy", held_x.astype(np.float32) / UNIT)
    np.save(work / "y.npy", held_y)
    torch.onnx.export(network.eval(), torch.zeros((1, *shape)), work / f"{name}.onnx",
                      opset_version=13, input_names=["window"], output_names=["scores"])
    subprocess.run([deputy, "quantize", work / f"{name}.onnx", "--calib", work / "calib.npy",
                    "-o", FOLDER / f"{name}.tflite", "--io", "int8", "--method", "minmax",
                    "--eval", work / "x.npy", "--labels", work / "y.npy", "--metric", metric,
                    "--report", work / f"{name}.json"], check=True)
    return json.loads((work / f"{name}.json").read_text())["metric"]


def train_heart_rate(deputy, work):
    x, y = heart_rates(deputy, work, TRAIN, 128)
    valid_x, valid_y = heart_rates(deputy, work, VALID, 256)
    held_x, held_y = heart_rates(deputy, work, HELD, 256)
    network = networks.heart_rate()
    # Small errors count squared, large ones as they are: half of those cannot be helped.
    fit(network, x, y, lambda n: np.abs(answers(n, valid_x) - valid_y).mean(),
        nn.SmoothL1Loss(beta=5.0), 8, 64, 4e-3)
    error = np.abs(answers(network, held_x) - held_y)
    metric = quantised(deputy, work, network, "heart_rate", x, held_x, held_y, "mae")
    return {"training_windows": len(x), "held_out_windows": len(held_x), "metric": metric,
            "always_the_mean_bpm": float(np.abs(held_y - y.mean()).mean()),
            "float_within_bpm": {p: float(np.percentile(error, p)) for p in (50, 75, 90, 95)},
            "parameters": sum(p.numel() for p in network.parameters())}


def train_seizure(deputy, work):
    x, y = seizures(deputy, work, TRAIN[:32], 128, 3)
    valid_x, valid_y = seizures(deputy, work, VALID[:6], 512)
    held_x, held_y = seizures(deputy, work, HELD[:12], 512)
    network = networks.seizure()
    fit(network, x, y, lambda n: (answers(n, valid_x).argmax(1) == valid_y).mean(),
        nn.CrossEntropyLoss(), 4, 64, 4e-3)
    said = answers(network, held_x).argmax(1)
    metric = quantised(deputy, work, network, "seizure", x, held_x, held_y, "top1")
    return {"training_windows": len(x), "held_out_windows": len(held_x), "metric": metric,
            "held_out_seizure_windows": int(held_y.sum()),
            "float_sensitivity": float(said[held_y == 1].mean()),
            "float_false_share": float(said[held_y == 0].mean()),
            "parameters": sum(p.numel() for p in network.parameters())}


def main():
    torch.set_num_threads(1)
    deputy, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "results.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    for name, train in (("heart_rate", train_heart_rate), ("seizure", train_seizure)):
        if len(sys.argv) > 3 and sys.argv[3] != name:
            continue
        torch.manual_seed(10)
        results[name] = train(deputy, work)
    path.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
