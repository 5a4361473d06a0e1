"""Running our programs and the peer, for the benchmarks of this folder."""
import json
import math
import os
import statistics
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("ATC_BIN", ROOT / "build" / "bin"))
PEERS = Path(os.environ.get("PEERS", ROOT.parent / "shared" / "peers"))


class ProgramFailed(RuntimeError):
    pass


def run(command):
    """Runs a program. Gives its stdout, wall seconds and peak resident MiB; ProgramFailed when it fails."""
    begin = time.monotonic()
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise ProgramFailed(f"{Path(command[0]).name}: {out.strip()[-300:]}")
    return out, time.monotonic() - begin, usage.ru_maxrss / 1024


def compile_model(model, output, precision, shapes=None):
    """atc for Ascend910B3. `shapes`: of the inputs, for models that leave them open. Gives seconds and MiB."""
    command = [BIN / "atc", f"--model={model}", "--framework=5", "--soc_version=Ascend910B3", f"--output={output}",
               f"--precision_mode_v2={precision}", "--export_compile_stat=0"]
    if shapes:
        command.append("--input_shape=" + ";".join(f"{n}:{','.join(map(str, d))}" for n, d in shapes.items()))
    _, seconds, peak = run(command)
    return seconds, peak


def omrun(om, threads, loop, warmup, inputs=()):
    """The report of `omrun --json`."""
    command = [BIN / "omrun", "--model", om, "--threads", threads, "--loop", loop, "--warmup", warmup, "--json"]
    if inputs:
        command += ["--input", ",".join(map(str, inputs))]
    return json.loads(run(command)[0])


class Peer:
    """ONNX Runtime with a model loaded."""

    def __init__(self, case, threads):
        self.process = subprocess.Popen(
            ["node", str(Path(__file__).with_name("ort_session.mjs")), str(case.model), str(case.data), str(threads),
             str(PEERS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise ProgramFailed("onnxruntime: " + self.process.stderr.read().strip()[-300:])
        ready = json.loads(line)
        self.inputs, self.open = ready["inputs"], ready["open"]

    def run(self, runs):
        """Medians of the wall times and the mean CPU time of a run, ms."""
        self.process.stdin.write(f"{runs}\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return statistics.median(answer["wall"]), answer["cpu"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def peer_compile(model, saved):
    """Seconds that ONNX Runtime takes to optimise a model and save it, and its peak MiB."""
    out, _, peak = run(["node", PEERS / "ort_run.mjs", model, "--session-only", "--save", saved, "--json"])
    return json.loads(out.strip().splitlines()[-1])["load_ms"][0] / 1e3, peak


class Case:
    """A folder with model.onnx and test_data_set_0."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.name = self.folder.name
        self.model = self.folder / "model.onnx"
        self.data = self.folder / "test_data_set_0"

    def inputs(self, count):
        return [self.data / f"input_{i}.pb" for i in range(count)]


def find_cases(folders):
    """Cases below the folders, or the folders themselves, by name; of two of one name the first."""
    found = {}
    for folder in map(Path, folders):
        for model in sorted([*folder.glob("model.onnx"), *folder.glob("*/model.onnx")]):
            if (model.parent / "test_data_set_0" / "input_0.pb").exists():
                found.setdefault(model.parent.name, Case(model.parent))
    return [found[name] for name in sorted(found)]


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


class Table:
    """Rows that are printed as they come, and their ratios at the end."""

    def __init__(self, title, columns):
        self.ratios = {}
        print(f"\n== {title}\n{'':26s}" + "".join(f"{c:>12s}" for c in columns), flush=True)

    def row(self, name, values):
        cells = "".join(f"{v:12.3f}" if isinstance(v, float) else f"{v:>12}" for v in values)
        print(f"{name:26s}{cells}", flush=True)

    def ratio(self, label, name, value):
        self.ratios.setdefault(label, {})[name] = value

    def finish(self):
        for label, by_name in self.ratios.items():
            worst = sorted(by_name.items(), key=lambda item: -item[1])[:5]
            print(f"{label}: geometric mean {geometric_mean(by_name.values()):.2f} of {len(by_name)}; worst "
                  + ", ".join(f"{name} {value:.2f}" for name, value in worst), flush=True)
