#!/usr/bin/python3
"""Predicted samples/s of the simulated Ascend310P3 beside published rates of the real one.

  tests/bench/device_rates.py [--rates FILE.csv] [--bin build/bin] [--work FOLDER] [--only SUBSTRING] [--reuse] [--tasks N]

FILE.csv has the columns model, batch, samples_per_s (default: device_rates_310p3.csv of the cases). Exports
each network once (needs torch and torchvision), compiles it for each batch with fp16 and dry-runs it. Prints
a line a row, then the Spearman rank correlation and the median of |predicted / published - 1| over the rows
up to --largest (32). --tasks prints where the modelled time goes.
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
from device_networks import export, input_shape  # noqa: E402


def ranks(values):
    """Ranks from 1; equal values share their mean rank."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    out = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            out[order[k]] = (i + j) / 2 + 1
        i = j + 1
    return out


def spearman(x, y):
    rx, ry = ranks(x), ranks(y)
    mx, my = statistics.mean(rx), statistics.mean(ry)
    cov = sum((a - mx) * (b - my) for a, b in zip(rx, ry))
    return cov / (sum((a - mx) ** 2 for a in rx) * sum((b - my) ** 2 for b in ry)) ** 0.5


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def simulate(args, path, shapes, batch):
    """Compiles for one batch and dry-runs: (omrun's JSON, seconds of compiling)."""
    om = f"{path[:-5]}_{batch}"
    begin = time.time()
    if not (args.reuse and os.path.exists(om + ".om")):
        run([os.path.join(args.bin, "atc"), "--model=" + path, "--framework=5", "--soc_version=" + args.soc,
             "--output=" + om, "--input_shape=" + input_shape(shapes, batch), "--precision_mode_v2=fp16",
             "--export_compile_stat=0"])
    seconds = time.time() - begin
    return json.loads(run([os.path.join(args.bin, "omrun"), "--model", om + ".om", "--dry-run", "--json"])), seconds


def print_tasks(report, count):
    tasks = sorted(report["simulated"].get("tasks", []), key=lambda t: -t["us"])
    for t in tasks[:count]:
        print("    {:9.1f} us  {}".format(t["us"], {k: v for k, v in t.items() if k != "us"}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cases = os.environ.get("ATC_CASES", os.path.join(os.path.dirname(ROOT), "shared", "cases"))
    parser.add_argument("--rates", default=os.path.join(cases, "device_rates_310p3.csv"))
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--work", default=os.path.join(tempfile.gettempdir(), "device_rates"))
    parser.add_argument("--soc", default="Ascend310P3")
    parser.add_argument("--only", default="", help="rows whose model has this in its name")
    parser.add_argument("--largest", type=int, default=32, help="batch up to which rows count")
    parser.add_argument("--reuse", action="store_true", help="take what an earlier run has compiled")
    parser.add_argument("--tasks", type=int, default=0, help="print so many of each row's longest tasks")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    with open(args.rates, newline="") as f:
        rows = [r for r in csv.DictReader(f) if args.only in r["model"]]
    print(f"{'model':<30} {'batch':>5} {'published/s':>11} {'predicted/s':>11} {'ratio':>6} {'tasks':>5} {'compile s':>9}")
    published, predicted = [], []
    for r in rows:
        path, shapes = export(r["model"], args.work)
        batch, rate = int(r["batch"]), float(r["samples_per_s"])
        report, seconds = simulate(args, path, shapes, batch)
        rate_here = batch / report["simulated"]["us"] * 1e6
        print(f"{os.path.basename(path)[:-5]:<30} {batch:>5} {rate:>11.1f} {rate_here:>11.1f} {rate_here / rate:>6.2f} "
              f"{sum(report['tasks'].values()):>5} {seconds:>9.2f}{'' if batch <= args.largest else '  (not counted)'}", flush=True)
        print_tasks(report, args.tasks)
        if batch <= args.largest:
            published.append(rate)
            predicted.append(rate_here)
    if len(published) > 1:
        errors = [abs(p / q - 1) for p, q in zip(predicted, published)]
        print(f"rows up to batch {args.largest}: {len(published)}, Spearman {spearman(predicted, published):.3f}, "
              f"median |ratio - 1| {100 * statistics.median(errors):.1f} %")


if __name__ == "__main__":
    main()
