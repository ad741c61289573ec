#!/usr/bin/python3
"""Trains the ECG beat classifier, quantises it and writes everything this folder keeps of it:

  ecg_beats.tflite               the int8 network
  heldout_x.npy, heldout_y.npy   held-out beats (int8 [n, 256]) and classes (uint8 [n])
  sample_beat.npy                one ventricular beat in the network's input shape [1, 1, 256, 1]
  golden/heldout_tflite.npy      int8 [n, 5]: outputs of the integer model, `tflite` rounding
  results.json                   every figure the README states

Needs Debian's python3-numpy, python3-scipy, libopenblas0-pthread and flatbuffers-compiler, nothing
else. Run as /usr/bin/python3 train.py. The same machine and packages give the same bytes; another
BLAS or processor may round differently in training and end in slightly different weights.
"""
import argparse
import json
import os
import pathlib

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy: the order of sums must not depend on the cores

import numpy as np  # noqa: E402

import dataset  # noqa: E402
import fit  # noqa: E402
import frontend  # noqa: E402
import integer_model  # noqa: E402
import layers  # noqa: E402
import quantise  # noqa: E402
import real_record  # noqa: E402
import signals  # noqa: E402
import tflite_file  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent
SEEDS = dict(train=20031, validation=20032, heldout=20033, weights=20034)


def confusion(truth, guess):
    table = np.zeros((5, 5), int)
    np.add.at(table, (truth, guess), 1)
    return table.tolist()


def judge(truth, guess):
    right = int((truth == guess).sum())
    return dict(
        correct=right,
        of=len(truth),
        accuracy=round(right / len(truth), 6),
        confusion=confusion(truth, guess),
    )


def judge_real(classify):
    """False alarms and detections on the real record, by reference group."""
    times, windows, labels = real_record.beats()
    guess = classify(windows)

    def tally(chosen):
        return {signals.CLASS_NAMES[k]: int((guess[chosen] == k).sum()) for k in range(5)}

    return dict(
        beats=len(times),
        first_16_s=tally(times < real_record.NORMAL_UNTIL),
        narrow=tally(labels == signals.NORMAL),
        wide=tally(labels == signals.VENTRICULAR),
        between=tally(labels == real_record.BETWEEN),
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--beats", type=int, default=20000, help="training beats (default %(default)s)"
    )
    parser.add_argument(
        "--epochs", type=int, default=14, help="passes over them (default %(default)s)"
    )
    parser.add_argument(
        "--output-dir", type=pathlib.Path, default=FOLDER, help="where to write (default: here)"
    )
    args = parser.parse_args()
    (args.output_dir / "golden").mkdir(parents=True, exist_ok=True)

    print("making the signals", flush=True)
    x, y, train_patients = dataset.make_set(SEEDS["train"], args.beats)
    x_val, y_val, _ = dataset.make_set(SEEDS["validation"], 1500)
    x_out, y_out, out_patients = dataset.make_set(SEEDS["heldout"], 1600)

    def mv(q):
        return q.astype(np.float32) * np.float32(frontend.STEP_MV)

    weights = fit.train(
        mv(x),
        y,
        mv(x_val),
        y_val,
        SEEDS["weights"],
        args.epochs,
        log=lambda line: print(line, flush=True),
    )
    model_file = args.output_dir / "ecg_beats.tflite"
    tflite_file.write(
        quantise.quantise(weights, mv(x[:2000])),
        model_file,
        "ECG beat classifier, trained on synthetic beats; see workloads/ecg/README.md",
    )
    network = tflite_file.read(model_file)  # what is judged is the file

    outputs = np.concatenate(
        [integer_model.run(network, x_out[i : i + 200]) for i in range(0, len(x_out), 200)]
    )
    float_guess, int8_guess = quantise.float_classes(weights, x_out), outputs.argmax(axis=1)
    np.save(args.output_dir / "heldout_x.npy", x_out)
    np.save(args.output_dir / "heldout_y.npy", y_out)
    np.save(args.output_dir / "golden" / "heldout_tflite.npy", outputs)
    sample = int(
        np.flatnonzero((y_out == signals.VENTRICULAR) & (int8_guess == signals.VENTRICULAR))[0]
    )
    np.save(args.output_dir / "sample_beat.npy", x_out[sample].reshape(1, 1, frontend.WINDOW, 1))

    parameters, macs = layers.count()
    results = dict(
        classes=signals.CLASS_NAMES,
        parameters=parameters,
        macs=macs,
        model_bytes=model_file.stat().st_size,
        train=dict(beats=len(x), patients=train_patients, epochs=args.epochs),
        heldout=dict(
            beats=len(x_out),
            patients=out_patients,
            float=judge(y_out, float_guess),
            int8=judge(y_out, int8_guess),
            same_class=int((float_guess == int8_guess).sum()),
        ),
        real_record={
            "float": judge_real(lambda w: quantise.float_classes(weights, w)),
            "int8": judge_real(lambda w: integer_model.classes(network, w)),
        },
    )
    text = json.dumps(results, indent=1)
    (args.output_dir / "results.json").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
