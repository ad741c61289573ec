"""Adam on the cross-entropy, the learning rate along a half cosine. Seeded; one BLAS thread."""
import numpy as np

import layers


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def predict(weights, x, batch=400):
    """Logits [n, 5] of float inputs [n, 256]."""
    return np.concatenate(
        [layers.forward(weights, x[i : i + batch]) for i in range(0, len(x), batch)]
    )


def augment(rng, x):
    """Gain 0.8-1.25 and a little white noise; the synthetic patients already vary the rest."""
    gain = rng.uniform(0.8, 1.25, (len(x), 1)).astype(np.float32)
    noise = rng.standard_normal(x.shape, np.float32) * rng.uniform(0, 0.03, (len(x), 1)).astype(
        np.float32
    )
    return np.clip(x * gain + noise, -2.54, 2.54)


def train(x, y, x_val, y_val, seed, epochs, batch=64, peak=3e-3, decay=1e-3, log=print):
    """Returns trained float weights. x float32 mV [n, 256], y class indices."""
    rng = np.random.default_rng(seed)
    weights = layers.init_weights(seed)
    first = {k: [np.zeros_like(v) for v in pair] for k, pair in weights.items()}
    second = {k: [np.zeros_like(v) for v in pair] for k, pair in weights.items()}
    steps = epochs * (len(x) // batch)
    step = 0
    for epoch in range(epochs):
        order = rng.permutation(len(x))
        loss_sum = 0.0
        for b in range(len(x) // batch):
            index = order[b * batch : (b + 1) * batch]
            kept = {}
            probability = softmax(layers.forward(weights, augment(rng, x[index]), kept))
            target = np.full_like(probability, 0.02 / 4)  # label smoothing 0.02
            target[np.arange(batch), y[index]] = 0.98
            loss_sum += -np.sum(target * np.log(probability + 1e-9)) / batch
            grads = layers.backward(weights, kept, (probability - target) / batch)
            rate = peak * 0.5 * (1 + np.cos(np.pi * step / steps)) * min(1.0, (step + 1) / 200)
            step += 1
            for name, pair in weights.items():
                for j in range(2):
                    g, m, v = grads[name][j], first[name][j], second[name][j]
                    m += 0.1 * (g - m)
                    v += 0.001 * (g * g - v)
                    update = (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
                    if j == 0:
                        update += decay * pair[j]
                    pair[j] -= np.float32(rate) * update.astype(np.float32)
        accuracy = np.mean(predict(weights, x_val).argmax(1) == y_val)
        loss = loss_sum / (len(x) // batch)
        log(f"epoch {epoch + 1:2d}/{epochs}  loss {loss:.4f}  validation {accuracy:.4f}")
    return weights
