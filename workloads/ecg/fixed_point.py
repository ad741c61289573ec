"""Integer arithmetic of the TFLite kernels in numpy int64, by the published rules: doubling high
multiply, rounding shift, and the fixed-point softmax (exp and reciprocal after gemmlowp). An
independent statement of what the `tflite` rounding mode means."""
import math

import numpy as np

INT32_MAX = 2**31 - 1


def quantize_multiplier(m):
    """Real multiplier -> (q, exponent) with m = q * 2^(exponent - 31), q rounded half away from
    zero."""
    if m == 0:
        return 0, 0
    f, e = math.frexp(m)
    q = int(math.floor(f * 2.0**31 + 0.5))
    if q == 2**31:
        q, e = q // 2, e + 1
    return (0, 0) if e < -31 else (q, e)


def high_mul(a, b):
    """round(a * b / 2^31), ties towards +infinity. int64 arrays of int32 values."""
    ab = np.asarray(a, np.int64) * np.asarray(b, np.int64)
    v = ab + np.where(ab >= 0, 2**30, 1 - 2**30)
    return np.minimum(np.where(v >= 0, v >> 31, -((-v) >> 31)), INT32_MAX)


def shift_right(x, bits):
    """round(x / 2^bits), ties away from zero."""
    x, bits = np.asarray(x, np.int64), np.asarray(bits, np.int64)
    mask = (np.int64(1) << bits) - 1
    return (x >> bits) + ((x & mask) > (mask >> 1) + (x < 0))


def multiply(x, multipliers):
    """x [..., c] int64 times real multipliers [c] (or [1]) with two roundings."""
    pairs = [quantize_multiplier(m) for m in multipliers]
    q = np.array([p[0] for p in pairs], np.int64)
    e = np.array([p[1] for p in pairs], np.int64)
    return shift_right(high_mul(x << np.maximum(e, 0), q), np.maximum(-e, 0))


def multiply_float(x, scales):
    """The `fp32` mode: float32(x) * float32 scale, rounded half to even."""
    return np.rint(x.astype(np.float32) * np.asarray(scales, np.float32)).astype(np.int64)


def _shift_left(x, bits):
    return np.clip(np.asarray(x, np.int64) << bits, -(2**31), INT32_MAX)


def exp_negative(a):
    """exp of a <= 0 in Q5.26 -> Q0.31."""
    a = np.asarray(a, np.int64)
    rest = (a & (2**24 - 1)) - 2**24  # in [-1/4, 0)
    x = _shift_left(rest, 5) + 2**28  # Q0.31, centred on -1/8
    x2 = high_mul(x, x)
    x3, x4 = high_mul(x2, x), high_mul(x2, x2)
    tail = shift_right(high_mul(shift_right(x4, 2) + x3, 715827883) + x2, 1)
    result = 1895147668 + high_mul(1895147668, x + tail)
    whole = rest - a
    for i, factor in enumerate(
        (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
    ):
        result = np.where(whole & (1 << (24 + i)), high_mul(result, factor), result)
    return np.where(a == 0, INT32_MAX, result)


def reciprocal_one_plus(a):
    """1 / (1 + a) of a in [0, 1), Q0.31 -> Q0.31, by three Newton steps."""
    half = (np.asarray(a, np.int64) + INT32_MAX + 1) // 2
    x = 1515870810 + high_mul(half, -1010580540)
    for _ in range(3):
        x = x + _shift_left(high_mul(x, 2**29 - high_mul(half, x)), 2)
    return _shift_left(x, 1)


def softmax(x, scale):
    """int8 logits [n, c] -> int8 probabilities (1/256, -128)."""
    x = x.astype(np.int64)
    q, left = quantize_multiplier(min(scale * 2.0**26, float(INT32_MAX)))
    lowest = -math.floor(31 * 2.0**26 / 2.0**left)
    diff = x - x.max(axis=1, keepdims=True)
    live = diff >= lowest
    powers = np.where(live, exp_negative(high_mul(np.where(live, diff, 0) << left, q)), 0)
    total = np.where(live, shift_right(powers, 12), 0).sum(axis=1)  # Q12.19
    out = np.full(x.shape, -128, np.int64)
    for i, s in enumerate(total.tolist()):
        zeros = 32 - s.bit_length()
        scaled = high_mul(reciprocal_one_plus((s << zeros) - 2**31), powers[i])
        out[i] = np.where(live[i], shift_right(scaled, 12 - zeros + 23) - 128, -128)
    return np.clip(out, -128, 127).astype(np.int8)
