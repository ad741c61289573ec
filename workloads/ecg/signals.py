"""Synthetic ECG: the dynamical model of McSharry, Clifford, Tarassenko and Smith (IEEE Trans.
Biomed. Eng. 50(3), 2003), driven by a rhythm with premature beats.

The model moves a point round a unit circle once a beat; each wave (P, Q, R, S, T) pushes z up and
down as the point passes the wave's angle:  dz/dt = -sum a_i dth_i exp(-dth_i^2 / 2 b_i^2) - (z -
z0). On the circle the angle grows with speed w = 2 pi / RR, so only z has to be integrated. Widths
and positions are given in seconds (a QRS does not stretch when the heart slows) and become b = w *
width, dth = w * (t - t_i); a = A w / b^2 makes the wave A mV high. Only the T wave follows the
rate, with the square root of RR (Bazett).
"""
from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

SYNTH_RATE = 500  # samples a second of the analogue-like signal, before the front end

NORMAL, SUPRAVENTRICULAR, VENTRICULAR, ST_SHIFT, ARTEFACT = range(5)
CLASS_NAMES = ["normal", "supraventricular", "ventricular", "st-shift", "artefact"]


@dataclass
class Wave:
    """One Gaussian event of a beat: height in mV, centre in s after the R peak, width (sigma) in
    s."""

    height: float
    centre: float
    width: float


@dataclass
class Patient:
    """What stays the same through one record: morphology, mean RR in s, ectopic rates, ST level."""

    rr: float
    p: Wave
    qrs: list
    t: Wave
    foci: list  # wave lists of the ventricular foci
    p_ventricular: float
    p_supraventricular: float
    st_level: float  # mV, 0 outside ischaemia
    st_from: float  # s, start of the ischaemic episode


@dataclass
class Beat:
    time: float  # s, R peak
    kind: int
    waves: list


def sign(rng):
    return 1.0 if rng.random() < 0.5 else -1.0


def make_focus(rng):
    """A ventricular focus: wide, often notched or slurred, with the T wave opposite to the QRS."""
    up = 1.0 if rng.random() < 0.6 else -1.0
    main = up * rng.uniform(0.7, 2.3)
    width = rng.uniform(0.024, 0.046)
    side = sign(rng) * rng.uniform(0.035, 0.085)
    return [
        Wave(main, rng.uniform(-0.01, 0.02), width),
        Wave(main * rng.uniform(-0.6, 0.6), side, rng.uniform(0.018, 0.040)),
        Wave(-up * rng.uniform(0.1, 0.7), rng.uniform(0.12, 0.20), rng.uniform(0.035, 0.060)),
        Wave(-up * rng.uniform(0.1, 0.6), rng.uniform(0.26, 0.36), rng.uniform(0.045, 0.075)),
    ]


def make_patient(rng, duration):
    qrs = [
        Wave(-rng.uniform(0.0, 0.20), -rng.uniform(0.020, 0.035), rng.uniform(0.006, 0.010)),
        Wave(rng.uniform(0.5, 2.2), 0.0, rng.uniform(0.008, 0.016)),
        Wave(-rng.uniform(0.0, 0.6), rng.uniform(0.020, 0.038), rng.uniform(0.007, 0.013)),
    ]
    t_height = rng.uniform(0.08, 0.55) if rng.random() < 0.88 else -rng.uniform(0.05, 0.30)
    ischaemic = rng.random() < 0.4
    return Patient(
        rr=60.0 / rng.uniform(45, 130),
        p=Wave(rng.uniform(0.04, 0.25), -rng.uniform(0.13, 0.20), rng.uniform(0.014, 0.026)),
        qrs=qrs,
        t=Wave(t_height, rng.uniform(0.25, 0.31), rng.uniform(0.035, 0.060)),
        foci=[make_focus(rng) for _ in range(1 if rng.random() < 0.7 else 2)],
        p_ventricular=rng.uniform(0.05, 0.35) if rng.random() < 0.7 else 0.0,
        p_supraventricular=rng.uniform(0.05, 0.25) if rng.random() < 0.6 else 0.0,
        st_level=sign(rng) * rng.uniform(0.15, 0.5) if ischaemic else 0.0,
        st_from=rng.uniform(0.0, 0.6) * duration if ischaemic else np.inf,
    )


def t_waves(wave, rr):
    """A T wave rises more slowly than it falls: a low broad part leads the main one."""
    stretch = np.sqrt(np.clip(rr, 0.35, 1.4))
    centre = wave.centre * stretch + 0.02
    return [
        Wave(0.35 * wave.height, centre - 0.05, 1.2 * wave.width),
        Wave(0.8 * wave.height, centre, wave.width),
    ]


def sinus_waves(rng, patient, time, rr):
    waves = [patient.p] + patient.qrs + t_waves(patient.t, rr)
    if time >= patient.st_from:
        level = patient.st_level
        waves += [Wave(level, 0.085, 0.030), Wave(0.9 * level, 0.150, 0.040)]
    return waves


def supraventricular_waves(rng, patient, rr):
    """The P wave comes from elsewhere (inverted, pointed, or lost in the T wave) and sits
    closer."""
    shape = rng.integers(3)
    height = [-rng.uniform(0.05, 0.22), rng.uniform(0.05, 0.28), 0.0][shape]
    p = Wave(height, -rng.uniform(0.08, 0.15), rng.uniform(0.010, 0.020))
    aberrant = rng.uniform(1.0, 1.25) if rng.random() < 0.3 else 1.0
    qrs = [Wave(w.height, w.centre * aberrant, w.width * aberrant) for w in patient.qrs]
    return [p] + qrs + t_waves(patient.t, rr)


def ventricular_waves(rng, patient, late):
    focus = patient.foci[rng.integers(len(patient.foci))]
    if late and rng.random() < 0.4:  # fusion with a sinus beat that was already on its way
        share = rng.uniform(0.55, 0.85)
        mixed = [Wave(share * w.height, w.centre, w.width) for w in focus]
        mixed += [Wave((1 - share) * w.height, w.centre, w.width) for w in patient.qrs]
        return [patient.p] + mixed
    return list(focus)


def make_rhythm(rng, patient, duration):
    """The beats of one record in time order. Premature ventricular beats leave the sinus node's
    clock running (compensatory pause, now and then none), supraventricular ones reset it."""
    beats = []
    lf, hf, jitter = rng.uniform(0.0, 0.05), rng.uniform(0.0, 0.04), rng.uniform(0.002, 0.02)
    phases = rng.uniform(0, 2 * np.pi, 2)

    def sinus_rr(t):
        swing = lf * np.sin(2 * np.pi * 0.1 * t + phases[0]) + hf * np.sin(
            2 * np.pi * 0.25 * t + phases[1]
        )
        return patient.rr * (1 + swing + jitter * rng.standard_normal())

    t = rng.uniform(0.2, 0.8)
    rr = patient.rr
    while t < duration:
        beats.append(Beat(t, NORMAL, sinus_waves(rng, patient, t, rr)))
        if t >= patient.st_from:
            beats[-1].kind = ST_SHIFT
        rr = sinus_rr(t)
        u = rng.random()
        if u < patient.p_ventricular:
            coupling = rng.uniform(0.5, 1.0)
            tv = t + max(coupling * rr, 0.30)
            beats.append(Beat(tv, VENTRICULAR, ventricular_waves(rng, patient, coupling > 0.85)))
            run = 0
            while rng.random() < 0.2 and run < 6:
                tv += rng.uniform(0.30, 0.50)
                beats.append(Beat(tv, VENTRICULAR, ventricular_waves(rng, patient, False)))
                run += 1
            if run or t + 2 * rr < tv + 0.5 * rr:
                t = tv + rng.uniform(0.9, 1.3) * rr
            elif rng.random() < 0.1 and coupling < 0.6 and rr > 0.8:
                t = t + 1.08 * rr  # interpolated: no pause
            else:
                t = t + 2 * rr
        elif u < patient.p_ventricular + patient.p_supraventricular:
            ts = t + max(rng.uniform(0.5, 0.78) * rr, 0.28)
            beats.append(Beat(ts, SUPRAVENTRICULAR, supraventricular_waves(rng, patient, rr)))
            t = ts + rng.uniform(0.95, 1.2) * rr
        else:
            t += rr
    return beats


def synthesise(rng, beats, duration):
    """Integrates z over the record; returns float64 [duration * SYNTH_RATE] in mV."""
    n = int(duration * SYNTH_RATE)
    force = np.zeros(n)
    breath, phase, depth = rng.uniform(0.15, 0.4), rng.uniform(0, 2 * np.pi), rng.uniform(0, 0.12)
    for beat in beats:
        gain = 1 + depth * np.sin(2 * np.pi * breath * beat.time + phase)
        for wave in beat.waves:
            height = wave.height * gain * (1 + 0.05 * rng.standard_normal())
            centre = beat.time + wave.centre
            lo = max(0, int((centre - 5 * wave.width) * SYNTH_RATE))
            hi = min(n, int((centre + 5 * wave.width) * SYNTH_RATE) + 2)
            if hi <= lo:
                continue
            d = (np.arange(lo, hi) / SYNTH_RATE - centre) / wave.width
            force[lo:hi] -= (height / wave.width) * d * np.exp(-0.5 * d * d)
    dt = 1.0 / SYNTH_RATE
    return lfilter([dt / 2, dt / 2], [1.0, -np.exp(-dt)], force)
