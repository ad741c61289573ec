"""What an ambulatory recording adds to the heart's signal, and the faults that leave nothing to
read."""
import numpy as np
from scipy.signal import butter, lfilter, sosfilt

from signals import SYNTH_RATE


def muscle_noise(rng, n, rms):
    """Band-limited (20-150 Hz) noise as of muscles near the electrode, rms in mV."""
    sos = butter(2, [20, 150], btype="bandpass", fs=SYNTH_RATE, output="sos")
    x = sosfilt(sos, rng.standard_normal(n))
    return rms * x / max(x.std(), 1e-12)


def drift(rng, n, rms, seconds=3.0):
    """Slow wander (twice filtered noise with a time constant of `seconds` and 0.1 s), rms in mV."""
    x = rng.standard_normal(n)
    for tau in (seconds, 0.1):
        a = np.exp(-1.0 / (tau * SYNTH_RATE))
        x = lfilter([1 - a], [1, -a], x)
    return rms * x / max(x.std(), 1e-12)


def add_background(rng, x):
    """Baseline wander, breathing, mains hum, muscle noise and short bursts of it; beats stay
    readable."""
    n = len(x)
    t = np.arange(n) / SYNTH_RATE
    y = x + drift(rng, n, rng.uniform(0.0, 0.40), rng.uniform(0.5, 4.0))
    y += rng.uniform(0, 0.25) * np.sin(
        2 * np.pi * rng.uniform(0.15, 0.4) * t + rng.uniform(0, 6.28)
    )
    mains = 50.0 if rng.random() < 0.5 else 60.0
    y += rng.uniform(0, 0.08) * np.sin(2 * np.pi * mains * t + rng.uniform(0, 6.28))
    y += muscle_noise(rng, n, rng.uniform(0.0, 0.06))
    for _ in range(rng.integers(0, 5)):
        start, length = rng.integers(n), int(rng.uniform(0.5, 2.5) * SYNTH_RATE)
        part = y[start : start + length]
        part += muscle_noise(rng, len(part), rng.uniform(0.05, 0.18)) if len(part) > 10 else 0
    return y


def add_artefact(rng, y, lo, hi):
    """Overwrites or buries samples lo..hi of y in place with one of five faults."""
    n = hi - lo
    t = np.arange(n) / SYNTH_RATE
    kind = rng.integers(5)
    if kind == 0:  # electrode off: a flat line with what the cable picks up
        y[lo:hi] = rng.uniform(-0.5, 0.5)
        y[lo:hi] += rng.uniform(0, 0.25) * np.sin(2 * np.pi * rng.choice([50.0, 60.0]) * t)
        y[lo:hi] += muscle_noise(rng, n, rng.uniform(0.0, 0.03)) + drift(
            rng, n, rng.uniform(0, 0.05)
        )
    elif kind == 1:  # muscle noise as large as the beats
        y[lo:hi] = 0.5 * y[lo:hi] + muscle_noise(rng, n, rng.uniform(0.45, 1.2))
    elif kind == 2:  # electrode movement: steps that decay
        steps = np.zeros(n)
        for at in rng.integers(0, n, rng.integers(6, 16)):
            steps[at] += rng.uniform(-3, 3)
        tau = np.exp(-1.0 / (rng.uniform(0.08, 0.4) * SYNTH_RATE))
        y[lo:hi] = (
            0.4 * y[lo:hi]
            + lfilter([1], [1, -tau], steps)
            + muscle_noise(rng, n, rng.uniform(0.02, 0.2))
        )
    elif kind == 3:  # amplifier in saturation, coming back, going again
        rail = rng.uniform(2.5, 6.0)
        swing = drift(rng, n, 1.0)
        y[lo:hi] = np.clip(8 * swing + 0.3 * y[lo:hi], -rail, rail) + muscle_noise(rng, n, 0.02)
    else:  # rubbing: low-frequency noise in the band of the beats
        sos = butter(2, [1.0, 12.0], btype="bandpass", fs=SYNTH_RATE, output="sos")
        x = sosfilt(sos, rng.standard_normal(n + SYNTH_RATE))[SYNTH_RATE:]
        y[lo:hi] = 0.4 * y[lo:hi] + rng.uniform(0.5, 1.3) * x / max(x.std(), 1e-12)
