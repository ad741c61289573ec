"""Training, validation and held-out sets of synthetic beats. No patient is in two of them."""
import numpy as np

import frontend
import noise
import signals

DURATION = 60.0  # s a record
PER_PATIENT = 6  # windows of one class taken from one record, at most
SHARES = {
    signals.NORMAL: 0.40,
    signals.SUPRAVENTRICULAR: 0.15,
    signals.VENTRICULAR: 0.20,
    signals.ST_SHIFT: 0.13,
    signals.ARTEFACT: 0.12,
}


def record_windows(rng):
    """All labelled windows of one new patient's record: (int8 [n, WINDOW], labels [n])."""
    patient = signals.make_patient(rng, DURATION)
    beats = signals.make_rhythm(rng, patient, DURATION)
    y = noise.add_background(rng, signals.synthesise(rng, beats, DURATION))
    faults = []
    for _ in range(rng.integers(1, 4)):
        start, length = rng.uniform(2, DURATION - 8), rng.uniform(3.0, 6.0)
        if all(start > b + 3 or start + length < a - 3 for a, b in faults):
            faults.append((start, start + length))
            lo, hi = (int(v * signals.SYNTH_RATE) for v in faults[-1])
            noise.add_artefact(rng, y, lo, hi)
    z = frontend.condition(y, signals.SYNTH_RATE)

    before, after = frontend.R_AT / frontend.RATE, (frontend.WINDOW - frontend.R_AT) / frontend.RATE
    xs, labels = [], []

    def take(time, label):
        window = frontend.cut(z, int(round(time * frontend.RATE)) + int(rng.integers(-2, 3)))
        if window is not None:
            xs.append(window)
            labels.append(label)

    for beat in beats:
        # A beat is judged when its own complex and the previous beat's are clean of faults.
        if all(beat.time + 0.6 < a or beat.time - before > b + 0.2 for a, b in faults):
            take(beat.time, beat.kind)
    for a, b in faults:
        # The detector fires anywhere inside a fault.
        for _ in range(4):
            if b - a > before + 0.45:
                take(rng.uniform(a + before - 0.3, b - min(after, 0.45)), signals.ARTEFACT)
    return np.array(xs, np.int8).reshape(-1, frontend.WINDOW), np.array(labels, np.uint8)


def make_set(seed, count):
    """`count` windows in the class proportions of SHARES, from as many patients as that takes."""
    rng = np.random.default_rng(seed)
    want = {k: int(round(v * count)) for k, v in SHARES.items()}
    want[signals.NORMAL] += count - sum(want.values())
    have = {k: [] for k in want}
    patients = 0
    while any(len(have[k]) < want[k] for k in want):
        xs, labels = record_windows(rng)
        patients += 1
        for k in want:
            index = np.flatnonzero(labels == k)
            for i in rng.permutation(index)[:PER_PATIENT]:
                if len(have[k]) < want[k]:
                    have[k].append(xs[i])
    x = np.concatenate([np.array(have[k], np.int8) for k in want])
    y = np.concatenate([np.full(want[k], k, np.uint8) for k in want])
    order = rng.permutation(len(y))
    return x[order], y[order], patients
