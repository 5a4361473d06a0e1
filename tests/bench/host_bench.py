#!/usr/bin/env python3
"""Speed of our programs on this machine beside ONNX Runtime, in one run (see tools/bench.sh).

Times of both are taken in turns, a few rounds each, so that a busy machine is slow for both. `wall` ratios are
medians of wall times; `cpu` ratios are of the CPU time of a run, which other programs disturb less (on one
thread the two should agree; threads that wait for each other by spinning count as used time).
"""
import argparse
import math
import os
import statistics
import sys
import tempfile
from pathlib import Path

import onnx_writer
from host_tools import (BIN, Case, Peer, ProgramFailed, Table, compile_model, find_cases, omrun, peer_compile, run)

SECTIONS = ("run", "compile", "start", "scaling", "micro")


def measure_run(case, threads, options, work):
    """Per-run times, ms: {'ort' | 'origin' | 'fp16': (wall, cpu)}."""
    with Peer(case, threads) as peer:
        shapes = peer.inputs if peer.open else None
        models = {}
        for precision in ("origin", "fp16"):
            models[precision] = work / f"{case.name}.{precision}.om"
            if not models[precision].exists():
                compile_model(case.model, models[precision].with_suffix(""), precision, shapes)
        inputs = case.inputs(len(peer.inputs))
        peer.run(2)
        once = max(peer.run(2)[0], 0.02)
        loop = max(3, min(300, round(options.seconds * 1e3 / once)))
        times = {"ort": [], "origin": [], "fp16": []}
        for _ in range(options.rounds):
            times["ort"].append(peer.run(loop))
            for precision, om in models.items():
                report = omrun(om, threads, loop, 2, inputs)
                times[precision].append((report["wall_ms"]["median"], report["cpu_ms"]["median"]))
    return {who: tuple(statistics.median(t[i] for t in all_times) for i in (0, 1))
            for who, all_times in times.items()}


def section_run(cases, options, work):
    for threads in options.threads:
        table = Table(f"inference, {threads} thread(s), ms (medians of {options.rounds} rounds)",
                      ("ort", "origin", "fp16", "wall", "cpu", "fp16/origin"))
        for case in cases:
            try:
                t = measure_run(case, threads, options, work)
            except ProgramFailed as error:
                print(f"{case.name:26s} {error}")
                continue
            wall, cpu = (t["origin"][i] / t["ort"][i] for i in (0, 1))
            half = t["fp16"][1] / t["origin"][1]
            table.row(case.name, (t["ort"][0], t["origin"][0], t["fp16"][0], wall, cpu, half))
            table.ratio("omrun / ONNX Runtime, wall", case.name, wall)
            table.ratio("omrun / ONNX Runtime, cpu", case.name, cpu)
            table.ratio("our fp16 / our origin, cpu", case.name, half)
        table.finish()


def section_compile(cases, options, work):
    table = Table("compile and save, s and peak MiB (weights: MiB of the .onnx file)",
                  ("ort", "atc", "ratio", "ort MiB", "atc MiB", "weights"))
    for case in cases:
        try:
            with Peer(case, 1) as peer:
                shapes = peer.inputs if peer.open else None
            rounds = [(peer_compile(case.model, work / "ort.onnx"),
                       compile_model(case.model, work / f"{case.name}.origin", "origin", shapes))
                      for _ in range(options.rounds)]
        except ProgramFailed as error:
            print(f"{case.name:26s} {error}")
            continue
        ort, ours = (statistics.median(r[i][0] for r in rounds) for i in (0, 1))
        peaks = [min(r[i][1] for r in rounds) for i in (0, 1)]
        weights = sum(f.stat().st_size for f in case.folder.iterdir() if f.is_file()) / 2**20
        table.row(case.name, (ort, ours, ours / ort, *(f"{p:.0f}" for p in peaks), f"{weights:.0f}"))
        table.ratio("atc / ONNX Runtime", case.name, ours / ort)
        table.ratio("atc's peak / (2 x weights + 48 MiB)", case.name, peaks[1] / (2 * weights + 48))
    table.finish()


def section_start(cases, options, work):
    table = Table("loading and the first inference on one thread, ms",
                  ("om MiB", "load", "per 100MiB", "first", "later", "first-later"))
    for case in cases:
        om = work / f"{case.name}.origin.om"
        try:
            if not om.exists():
                with Peer(case, 1) as peer:
                    shapes = peer.inputs if peer.open else None
                compile_model(case.model, om.with_suffix(""), "origin", shapes)
            reports = [omrun(om, 1, 6, 0) for _ in range(2 * options.rounds + 1)]
        except ProgramFailed as error:
            print(f"{case.name:26s} {error}")
            continue
        size = om.stat().st_size / 2**20
        load = min(r["load_ms"] for r in reports)
        first = min(r["wall_ms"]["first"] for r in reports)
        later = min(r["wall_ms"]["median"] for r in reports)
        table.row(case.name, (size, load, load / max(size / 100, 1), first, later, first - later))
    table.finish()


def section_scaling(cases, options, work):
    table = Table("chains of MatMul and Relu, by nodes", ("compile s", "MiB", "us/node", "load ms", "run ms"))
    growth = {"compile time": [], "peak memory": []}
    for nodes in options.nodes:
        model = work / "chain.onnx"
        model.write_bytes(onnx_writer.chain(nodes))
        seconds, peak = compile_model(model, work / "chain", "origin")
        growth["compile time"].append(seconds)
        growth["peak memory"].append(peak)
        report = omrun(work / "chain.om", 1, 5, 1)
        table.row(f"{nodes} nodes", (seconds, f"{peak:.0f}", seconds * 1e6 / nodes, report["load_ms"],
                                     report["wall_ms"]["median"]))
    for what, values in growth.items():
        print(f"{what} grows as nodes^{exponent(options.nodes, values):.2f} (1.00: linear)")
    batched = [c for c in cases if c.name == "resnet18_dynbatch"]
    if not batched:
        return
    with Peer(batched[0], 1) as peer:
        (name, dims), = peer.inputs.items()
    table = Table(f"{batched[0].name}, by batch, one thread", ("compile s", "MiB", "run ms", "ms/sample"))
    growth = {"compile time": [], "run time": [], "peak memory": []}
    for batch in options.batches:
        seconds, _ = compile_model(batched[0].model, work / "batch", "origin", {name: [batch, *dims[1:]]})
        report = omrun(work / "batch.om", 1, 3, 1)
        wall = report["wall_ms"]["median"]
        for what, value in zip(growth, (seconds, wall, report["peak_rss_mb"])):
            growth[what].append(value)
        table.row(f"batch {batch}", (seconds, f"{report['peak_rss_mb']:.0f}", wall, wall / batch))
    for what, values in growth.items():
        print(f"{what} grows as batch^{exponent(options.batches, values):.2f} (1.00: linear)")


def exponent(sizes, values):
    """Slope of log(value) over log(size) from the first to the last: 1 for linear growth, less where a constant part
    is left."""
    if len(sizes) < 2 or sizes[0] == sizes[-1]:
        return math.nan
    return math.log(values[-1] / values[0]) / math.log(sizes[-1] / sizes[0])


def section_micro(cases, options, work):
    program = BIN / "host_micro"
    if program.exists():
        print("\n== micro-kernels (share of the peak that the same machine reaches)")
        print(run([program, "--benchmark_counters_tabular=true"])[0])
    else:
        print("\n== micro-kernels: not built (cmake -DATC_BENCHMARKS=ON, target host_micro)")


def main():
    root = Path(__file__).resolve().parents[2]
    shared = Path(os.environ.get("ATC_CASES", root.parent / "shared" / "cases"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=[shared / "exported"],
                        help="folders with model.onnx and test_data_set_0, or folders of such folders")
    parser.add_argument("--sections", default=",".join(SECTIONS), help="of " + ",".join(SECTIONS))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of inference a round")
    parser.add_argument("--nodes", default="1000,10000,100000")
    parser.add_argument("--batches", default="1,2,4,8,16,32")
    options = parser.parse_args()
    for name in ("threads", "nodes", "batches"):
        setattr(options, name, [int(n) for n in getattr(options, name).split(",")])
    sections = options.sections.split(",")
    if unknown := [s for s in sections if s not in SECTIONS]:
        sys.exit(f"--sections: there is no {unknown[0]}; they are {', '.join(SECTIONS)}")
    cases = find_cases(options.cases)
    if not cases:
        sys.exit(f"no model.onnx with test data in {', '.join(map(str, options.cases))}")
    with tempfile.TemporaryDirectory() as work:
        for section in sections:
            globals()[f"section_{section}"](cases, options, Path(work))


if __name__ == "__main__":
    main()
