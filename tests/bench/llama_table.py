#!/usr/bin/env python3
"""LLaMA-2-7B shape on the simulated chip: what compiling takes, and where the time of a token goes.

  tests/bench/llama_table.py [--bin build/bin] [--work FOLDER] [--soc Ascend910B3] [--layers 32] [--past 1023]

Writes the decoder with models/make_llama.py (prefill and decode with KV cache; needs python3-onnx, python3-numpy), compiles
it with fusion and, for decode, without (--oo_level=O1), and prints
- compile time beside twice the time of writing a file of the .om's size in the same run + 20 s (the mean of writing it before
  and after: pages that the system has just got back are cheaper), its own user time, and peak anonymous memory;
- modelled time by group of operators and tokens/s.
Each .om takes as much disk as the weights (13 GB for all layers) and is deleted once it is measured.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GROUPS = ("products", "attention", "RMSNorm", "RoPE", "SwiGLU", "KV cache", "rest")
ATTENTION = ("Transpose", "Transpose_1", "MatMul", "Mul", "Add", "Softmax", "MatMul_1", "Reshape")


def group_of(source):
    """The group of an ONNX node of make_llama.py, by its name."""
    parts = source.strip("/").split("/")
    if any(p.endswith("norm") for p in parts):
        return "RMSNorm"
    if any(p.startswith("rope_") for p in parts):
        return "RoPE"
    if parts[-1].startswith("present."):
        return "KV cache"
    if len(parts) > 2 and parts[-2] == "mlp":
        return "SwiGLU"
    if len(parts) > 2 and parts[-2] == "attn" and parts[-1] in ATTENTION:
        return "attention"
    return "products" if parts[-1] == "MatMul" else "rest"


def time_by_group(tasks):
    """Microseconds by group. A task that fuses several is counted with the first of GROUPS that it has."""
    us = dict.fromkeys(GROUPS, 0.0)
    for task in tasks:
        here = {group_of(s) for s in task["sources"]} or {"rest"}
        us[next(g for g in GROUPS if g in here)] += task["us"]
    return us


def anonymous_mib(pid):
    try:
        with open(f"/proc/{pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("RssAnon")) / 1024
    except (OSError, StopIteration):
        return 0.0


def compile_model(args, mode, options, name):
    """Compiles; gives seconds, user seconds, peak anonymous MiB, bytes of the .om and the report."""
    om, report = os.path.join(args.work, name), os.path.join(args.work, name + ".json")
    command = [os.path.join(args.bin, "atc"), f"--model={args.work}/{mode}/model.onnx", "--framework=5", f"--soc_version={args.soc}",
               f"--output={om}", f"--report={report}", "--export_compile_stat=0", *options]
    begin, peak, before = time.monotonic(), 0.0, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with open(om + ".log", "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        while process.poll() is None:
            peak = max(peak, anonymous_mib(process.pid))
            time.sleep(0.02)
    seconds = time.monotonic() - begin
    user = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if process.returncode != 0:
        sys.exit(open(om + ".log").read())
    size = os.path.getsize(om + ".om")
    os.remove(om + ".om")
    with open(report) as f:
        return seconds, user, peak, size, json.load(f)


def write_seconds(args, size):
    """How long a file of `size` bytes takes that is written as the compiler does: to the page cache, in large pieces."""
    path, piece = os.path.join(args.work, "written"), os.urandom(1 << 20) * 16
    begin = time.monotonic()
    with open(path, "wb", buffering=0) as f:
        for done in range(0, size, len(piece)):
            f.write(piece[:min(len(piece), size - done)])
    seconds = time.monotonic() - begin
    os.remove(path)
    return seconds


def size_of_weights(args):
    """About the bytes of an .om: 2 a weight."""
    return 2 * (args.layers * (4 * 4096 * 4096 + 3 * 4096 * 11008) + 2 * 32000 * 4096)


def make(args, mode, *options):
    if not os.path.exists(os.path.join(args.work, mode, "model.onnx")):
        subprocess.run([sys.executable, os.path.join(ROOT, "models", "make_llama.py"), os.path.join(args.work, mode), "--mode", mode,
                        "--layers", str(args.layers), *options], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--work", default=os.path.join(tempfile.gettempdir(), "llama_table"))
    parser.add_argument("--soc", default="Ascend910B3")
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=128, help="of the prefill")
    parser.add_argument("--past", type=int, default=1023, help="tokens in the KV cache of the decode")
    args = parser.parse_args()
    make(args, "prefill", "--tokens", str(args.tokens))
    make(args, "decode", "--past", str(args.past))
    runs = (("decode, fusion off", "decode", ["--oo_level=O1"], 1), ("decode", "decode", [], 1), ("prefill", "prefill", [], args.tokens))
    times = {}
    print("| | compile s | limit s | writing s | user s | peak anonymous MiB | .om GB | tasks | predicted ms | tokens/s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for title, mode, options, tokens in runs:
        size = size_of_weights(args)
        writing = write_seconds(args, size)
        seconds, user, peak, size, report = compile_model(args, mode, options, title.replace(", ", "_").replace(" ", "_"))
        writing = (writing + write_seconds(args, size)) / 2
        times[title] = time_by_group(report["tasks"])
        us = sum(times[title].values())
        print(f"| {title} | {seconds:.1f} | {2 * writing + 20:.1f} | {writing:.1f} | {user:.1f} | {peak:.0f} | {size / 1e9:.2f} | {len(report['tasks'])} "
              f"| {us / 1e3:.2f} | {tokens / us * 1e6:.1f} |", flush=True)
    print("\n| us (share) |", " | ".join(times), "|\n| --- |", " | ".join("---" for _ in times), "|")
    for group in GROUPS:
        cells = [f"{us[group]:.0f} ({100 * us[group] / sum(us.values()):.1f} %)" for us in times.values()]
        print(f"| {group} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
