"""The float networks that train.py fits: slim relatives of TEMPONet and EEGNet (those of
workloads/topologies_signal.cpp), with ReLU for ELU."""
from torch import nn


class Rows(nn.Module):
    """Samples as the stream's window has them, [1, time, channels], to what torch convolves."""

    def forward(self, x):
        return x.permute(0, 3, 1, 2)


def line(channels, filters, kernel, dilation=1, stride=1):
    """A convolution over time, normalised; as long as its input, divided by the stride."""
    return [
        nn.Conv2d(channels, filters, (1, kernel), (1, stride), (0, dilation * (kernel - 1) // 2),
                  (1, dilation), bias=False),
        nn.BatchNorm2d(filters),
        nn.ReLU(),
    ]


def average(width):
    # Told not to count the padding that there is none of, or the export pads.
    return nn.AvgPool2d((1, width), count_include_pad=False)


def heart_rate():
    """TEMPONet's layers (Risso et al. 2021) with a quarter to half of its channels; one number."""
    return nn.Sequential(
        Rows(), *line(4, 16, 3, 2), *line(16, 16, 3, 2), *line(16, 32, 5), average(2),
        *line(32, 32, 3, 4), *line(32, 32, 3, 4), *line(32, 48, 5, 1, 2), average(2),
        *line(48, 48, 3, 8), *line(48, 48, 3, 8), *line(48, 48, 5, 1, 4), average(2),
        nn.Flatten(), nn.Linear(48 * 4, 64), nn.ReLU(), nn.Linear(64, 1))


def seizure():
    """EEGNet's order (Lawhern et al. 2018): over time, over channels, over time. The first filters
    have 32 taps and step by four."""
    return nn.Sequential(
        Rows(), nn.Conv2d(1, 8, (1, 32), (1, 4), (0, 14), bias=False), nn.BatchNorm2d(8), nn.ReLU(),
        nn.Conv2d(8, 16, (22, 1), groups=8, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
        average(2), nn.Conv2d(16, 16, (1, 15), padding=(0, 7), groups=16, bias=False),
        nn.Conv2d(16, 24, 1, bias=False), nn.BatchNorm2d(24), nn.ReLU(), average(8),
        nn.Flatten(), nn.Linear(24 * 8, 2))
