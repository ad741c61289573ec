"""The real ECG that Debian's python3-scipy installs: 5 minutes of MIT-BIH record 208, lead MLII,
360 Hz.

Never trained on. It comes without beat labels, so the reference here is a rule over the width of
the QRS complex (below), which shares nothing with the network. Of the record as a whole only this
is said by others: scipy's documentation calls the first seconds normal sinus rhythm, says that
premature ventricular contractions begin after second 16, and names large artefacts between seconds
207 and 215.
"""
import warnings

import numpy as np

import frontend
import signals

RATE = 360
NORMAL_UNTIL = 16.0  # s
# Full width at half height. The record's complexes gather at 18-29 ms (sinus) and 70-105 ms
# (ventricular); those between are mostly slurred mixtures of the two and stay without a reference
# label.
NARROW_MS, WIDE_MS = 29.0, 58.0
BETWEEN = -1


def load():
    """float64 [108000] mV at 360 Hz."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from scipy.misc import (
            electrocardiogram,
        )  # scipy.datasets would download it; this one is installed

        return electrocardiogram()


def half_width_ms(y, at):
    """Width of the main deflection at half its height above the level 0.2 s either side, in ms."""
    lo, hi = max(0, at - 25), min(len(y), at + 26)
    part = y[lo:hi] - np.median(y[lo:hi])
    peak = int(np.argmax(part[15:-15])) + 15
    half = part[peak] / 2
    left, right = peak, peak
    while left > 0 and part[left - 1] > half:
        left -= 1
    while right < len(part) - 1 and part[right + 1] > half:
        right += 1

    def cross(inner, outer):
        return inner + (outer - inner) * (part[inner] - half) / max(part[inner] - part[outer], 1e-9)

    a = cross(left, left - 1) if left > 0 else left
    b = cross(right, right + 1) if right < len(part) - 1 else right
    return (b - a) * 1000.0 / frontend.RATE


def beats():
    """(times in s [n], windows int8 [n, 256], rule label [n]) of all detected beats."""
    y = frontend.condition(load(), RATE)
    times, windows, labels = [], [], []
    for at in frontend.detect_beats(y):
        window = frontend.cut(y, at)
        if window is None:
            continue
        width = half_width_ms(y, at)
        label = (
            signals.NORMAL
            if width < NARROW_MS
            else signals.VENTRICULAR
            if width > WIDE_MS
            else BETWEEN
        )
        times.append(at / frontend.RATE)
        windows.append(window)
        labels.append(label)
    return np.array(times), np.array(windows, np.int8), np.array(labels)
