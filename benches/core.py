#!/usr/bin/env python3
"""Benchmarks of the core. Prints a Markdown table; docs/benchmarks.md has the last figures.

usage: python3 benches/core.py [startup] [bmc] [load] [terms]     (all of them without arguments)

Builds the release command first. Both sides of a comparison run interleaved in one run; figures are medians.
"""
import os, re, shutil, statistics, subprocess, sys, tempfile, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GANDER = os.path.join(ROOT, "target", "release", "gander")


def build():
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "gander"], cwd=ROOT, check=True)
    subprocess.run([GANDER, "setup"], check=True, stdout=subprocess.DEVNULL)


def solver(name):
    """The path of a solver, as `gander doctor` reports it."""
    text = subprocess.run([GANDER, "doctor", "--paths"], capture_output=True, text=True).stdout
    for line in text.splitlines():
        words = line.split()
        if words and words[0] == name:
            return words[-1]
    return shutil.which(name)


def wall(command, stdin=None):
    begin = time.perf_counter()
    subprocess.run(command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def watched(command):
    """(wall seconds, peak resident MB of the process itself, output)"""
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    peak = [0]

    def watch():
        while child.poll() is None:
            try:
                with open(f"/proc/{child.pid}/status") as f:
                    m = re.search(r"VmHWM:\s+(\d+)", f.read())
                    peak[0] = max(peak[0], int(m.group(1)) if m else 0)
            except OSError:
                pass
            time.sleep(0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    out = child.communicate()[0]
    watcher.join()
    return time.perf_counter() - begin, peak[0] / 1024, out


def startup():
    print("\n### Start to exit on a ten-line model, evidence checked, against z3 on an empty script\n")
    z3 = solver("z3")
    model = os.path.join(ROOT, "benches", "ten_lines.sts")
    empty = tempfile.NamedTemporaryFile(suffix=".smt2")
    ours, theirs = [], []
    for _ in range(41):
        ours.append(wall([GANDER, "check", model]))
        theirs.append(wall([z3, empty.name]))
    a, b = statistics.median(ours), statistics.median(theirs)
    print("| | median ms | worst ms |\n|---|---|---|")
    print(f"| gander check | {a*1e3:.1f} | {max(ours)*1e3:.1f} |")
    print(f"| z3, empty script | {b*1e3:.1f} | {max(theirs)*1e3:.1f} |")
    print(f"| ratio | {a/b:.2f} | |")


def bmc():
    print("\n### BMC on a three-variable counter: own time per added step\n")
    subprocess.run(["cargo", "bench", "--quiet", "-p", "gander-engines"], cwd=ROOT, check=True)
    model = os.path.join(ROOT, "benches", "counter.sts")
    seconds, mb, _ = watched([GANDER, "check", "--checks", "none", "--engine", "bmc", "--max-depth", "1000", model])
    print(f"\n`gander check --engine bmc --max-depth 1000`: {seconds:.2f} s, {mb:.0f} MB resident (solver not included)")


def load():
    print("\n### Parsing and checking a generated model\n")
    subprocess.run(["cargo", "bench", "--quiet", "-p", "gander-lang"], cwd=ROOT, check=True)


def terms():
    print("\n### Terms\n")
    subprocess.run(["cargo", "bench", "--quiet", "-p", "gander-term"], cwd=ROOT, check=True)


if __name__ == "__main__":
    build()
    chosen = sys.argv[1:] or ["startup", "bmc", "load", "terms"]
    for name in chosen:
        {"startup": startup, "bmc": bmc, "load": load, "terms": terms}[name]()
