"""The recorder's front end: any ECG in mV becomes int8 windows round detected beats.

0.5-40 Hz band-pass (both ways, so without phase), resampled to 125 Hz, a window of 256 samples
(2.05 s) with the beat's R peak at sample 150: the 1.2 s before it hold the previous beat and the P
wave, the 0.84 s after it the T wave and mostly the next beat. One step is 20 microvolts, full scale
+-2.5 mV.
"""
from fractions import Fraction

import numpy as np
from scipy.signal import butter, find_peaks, resample_poly, sosfiltfilt

RATE = 125
WINDOW = 256
R_AT = 150
STEP_MV = 0.02


def condition(x, rate):
    """Filters and resamples a whole record: float64 mV at `rate` Hz -> float64 mV at RATE Hz."""
    sos = butter(2, [0.5, 40.0], btype="bandpass", fs=rate, output="sos")
    ratio = Fraction(RATE, rate)
    return resample_poly(sosfiltfilt(sos, x), ratio.numerator, ratio.denominator)


def cut(y, at):
    """Window round sample `at` as int8, or None at the record's edges."""
    lo = at - R_AT
    if lo < 0 or lo + WINDOW > len(y):
        return None
    return np.clip(np.rint(y[lo : lo + WINDOW] / STEP_MV), -127, 127).astype(np.int8)


def detect_beats(y):
    """R-peak samples of a conditioned record, by the energy of the slope (after Pan and Tompkins),
    with a band low enough (3-20 Hz) that wide ventricular complexes count as well."""
    sos = butter(2, [3.0, 20.0], btype="bandpass", fs=RATE, output="sos")
    band = sosfiltfilt(sos, y)
    slope = np.convolve(np.abs(np.gradient(band)), np.ones(17) / 17, mode="same")
    starts = np.arange(0, len(y), RATE)
    level = [np.median(np.sort(slope[max(0, i - 4 * RATE) : i + 4 * RATE])[-120:]) for i in starts]
    local = np.maximum(np.interp(np.arange(len(y)), starts, level), 1e-12)
    peaks, _ = find_peaks(slope / local, height=0.4, prominence=0.2, distance=int(0.26 * RATE))
    beats = []
    for p in peaks:
        lo, hi = max(0, p - 11), min(len(y), p + 12)
        beats.append(lo + int(np.argmax(np.abs(y[lo:hi] - np.median(y[max(0, p - 30) : p + 31])))))
    return np.array(beats)
