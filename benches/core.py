#!/usr/bin/env python3
"""Benchmarks of the core. Prints a Markdown table; docs/benchmarks.md has the last figures.

usage: python3 benches/core.py [startup] [bmc] [cancel] [reading] [load] [terms]
       (all of them without arguments)

Builds the release command first. Both sides of a comparison run interleaved in one run; figures are
medians.
"""
import importlib, os, re, shutil, signal, statistics, subprocess, sys, tempfile, time

from cancel_models import MODELS, TEXTS

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GANDER = os.environ.get("GANDER") or os.path.join(ROOT, "target", "release", "gander")


def build():
    """Builds the command, unless GANDER names one."""
    if os.environ.get("GANDER"):
        return
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "gander-cli"], cwd=ROOT, check=True)
    subprocess.run([GANDER, "setup"], check=True, stdout=subprocess.DEVNULL)


def solver(name):
    """The path of a solver: where `gander setup` put it, or on the PATH."""
    text = subprocess.run([GANDER, "setup"], capture_output=True, text=True).stdout
    paths = [w for w in text.split() if os.path.basename(w).startswith(name) and os.path.isfile(w)]
    return paths[0] if paths else shutil.which(name)


def wall(command, stdin=None):
    begin = time.perf_counter()
    subprocess.run(command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def watched(command):
    """(own processor seconds, peak resident MB), both of the process itself, not of its solvers."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    threads, peak = {}, 0
    while child.poll() is None:
        try:
            for task in os.listdir(f"/proc/{child.pid}/task"):
                with open(f"/proc/{child.pid}/task/{task}/schedstat") as f:
                    threads[task] = int(f.read().split()[0])
            with open(f"/proc/{child.pid}/status") as f:
                m = re.search(r"VmHWM:\s+(\d+)", f.read())
                peak = max(peak, int(m.group(1)) if m else 0)
        except (OSError, IndexError):
            pass
        time.sleep(0.002)
    return sum(threads.values()) / 1e9, peak / 1024


def startup():
    print("\n### Start to exit on a ten-line model, evidence checked, against z3 on an empty script\n")
    z3 = solver("z3")
    model = os.path.join(ROOT, "benches", "ten_lines.sts")
    empty = tempfile.NamedTemporaryFile(suffix=".smt2")
    ours, theirs = [], []
    for _ in range(201):
        ours.append(wall([GANDER, "check", model]))
        theirs.append(wall([z3, empty.name]))
    a, b = statistics.median(ours), statistics.median(theirs)
    print("| | median ms | worst ms |\n|---|---|---|")
    print(f"| gander check | {a*1e3:.1f} | {max(ours)*1e3:.1f} |")
    print(f"| z3, empty script | {b*1e3:.1f} | {max(theirs)*1e3:.1f} |")
    print(f"| ratio | {a/b:.2f} | |")


def bmc():
    print("\n### BMC on a three-variable counter: own time per added step\n")
    model = os.path.join(ROOT, "benches", "counter.sts")
    valgrind = shutil.which("valgrind")
    before = None
    print("| depth | wall s | own CPU s | own instructions per added step | MB resident |\n|---|---|---|---|---|")
    for depth in [125, 250, 500, 1000]:
        command = [GANDER, "check", "--checks", "none", "--engine", "bmc", "--max-depth", str(depth), model]
        runs = []
        for _ in range(5):
            begin = time.perf_counter()
            cpu, mb = watched(command)
            runs.append((time.perf_counter() - begin, cpu, mb))
        w, cpu, mb = (statistics.median(x) for x in zip(*runs))
        added = "(no valgrind)"
        if valgrind:
            # Counts our instructions only, whatever else the machine does.
            run = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null"] + command
            text = subprocess.run(run, capture_output=True, text=True).stderr
            m = re.search(r"Collected : (\d+)", text)
            count = int(m.group(1)) if m else 0
            added = f"{(count - before[1]) / (depth - before[0]):.0f}" if before else ""
            before = (depth, count)
        print(f"| {depth} | {w:.2f} | {cpu:.3f} | {added} | {mb:.0f} |")


def state_and_cpu(pid):
    """The state of a process and the processor seconds of all its threads, those that have ended
    included."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(command, moment):
    """Sends Ctrl-C when the process has used `moment` seconds: (processor s, wall s) from then to
    its end; None if it ends before."""
    # A shell lets what it runs in the background ignore the signal.
    restore_sigint = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=restore_sigint)
    begin = time.perf_counter()
    while True:
        state, before = state_and_cpu(child.pid)
        # A solver may be at work instead.
        if state == "Z" or before >= moment or time.perf_counter() - begin > 2 * moment + 0.3:
            break
        time.sleep(0.002)
    result = None
    if state != "Z":
        begin = time.perf_counter()
        child.send_signal(signal.SIGINT)
        while state != "Z":
            state, after = state_and_cpu(child.pid)
            time.sleep(0.001)
        result = (after - before, time.perf_counter() - begin)
    child.wait()
    return result


# CANCEL_MOMENTS names other moments, CANCEL_ONLY some of the models, CANCEL_ENGINES some of the
# engines (or `portfolio`).
MOMENTS = [float(m) for m in os.environ.get("CANCEL_MOMENTS", "0.02 0.1 0.2 0.35 0.6 1.0 1.8").split()]


def cancel():
    print("\n### From Ctrl-C to the end (goal: engines stop within 100 ms)\n")
    names = subprocess.run([GANDER, "engines"], capture_output=True, text=True).stdout
    # What an engine is for may go over several lines; behind an empty line there are plans.
    engines = [line.split()[0] for line in names.partition("\n\n")[0].splitlines() if line[:1].strip()]
    with tempfile.TemporaryDirectory() as folder:
        files = [(name, os.path.join(ROOT, "benches", name)) for name in ["endless.sts", "cubes.sts"]]
        for name, make in MODELS.items():
            files.append((name, os.path.join(folder, name)))
            with open(files[-1][1], "w") as f:
                f.write(make())
        only = os.environ.get("CANCEL_ONLY", "").split()
        files = [f for f in files if not only or f[0] in only]
        print(f"Worst of {len(MOMENTS)} interrupts, after {MOMENTS[0]} to {MOMENTS[-1]} s of processor time: own processor ms from then to the end\n(wall-clock ms); `-`: it had ended before.\n")
        heads = " | ".join(name.partition(".")[0] for name, _ in files)
        print(f"| engine | {heads} |\n|---" + "|--:" * len(files) + "|")
        wanted = os.environ.get("CANCEL_ENGINES", "").split()
        for engine in [None] + engines:
            if wanted and (engine or "portfolio") not in wanted:
                continue
            cells = []
            for name, path in files:
                command = [GANDER, "check", path] + (["--engine", engine] if engine else [])
                runs = [interrupted(command, m) for m in MOMENTS]
                runs = [r for r in runs if r]
                cells.append(f"{max(r[0] for r in runs)*1e3:.0f} ({max(r[1] for r in runs)*1e3:.0f})" if runs else "-")
            print(f"| {engine or 'portfolio'} | " + " | ".join(cells) + " |", flush=True)


def reading():
    print("\n### From the time limit to the end while a large file is being read\n")
    limits = [0.05, 0.1, 0.2, 0.4]
    print(f"Files of 8 MB; worst of {len(limits)} limits, {limits[0]} to {limits[-1]} s: own processor ms beyond the limit\n(wall-clock ms);\n`-`: it was read before.\n")
    print("| file | ms |\n|---|--:|")
    imported = importlib.import_module("import").SHAPES
    with tempfile.TemporaryDirectory() as folder:
        for name, make, ending in TEXTS + imported:
            path = os.path.join(folder, "model." + ending)
            with open(path, "w") as f:
                f.write(make(8_000_000))
            over = []
            for limit in limits:
                begin = time.perf_counter()
                command = [GANDER, "check", "--timeout", str(limit), path]
                child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                state, before = state_and_cpu(child.pid)
                while state != "Z":
                    state, after = state_and_cpu(child.pid)
                    if time.perf_counter() - begin <= limit:
                        before = after
                    time.sleep(0.001)
                clock = time.perf_counter() - begin
                if "being read" in child.communicate()[0]:
                    over.append((after - before, clock - limit))
            print(f"| {name} | " + (f"{max(o[0] for o in over)*1e3:.0f} ({max(o[1] for o in over)*1e3:.0f})" if over else "-") + " |", flush=True)


def load():
    print("\n### Parsing and checking a generated model\n")
    subprocess.run(["cargo", "bench", "--quiet", "-p", "gander-lang"], cwd=ROOT, check=True)


def terms():
    print("\n### Terms\n")
    subprocess.run(["cargo", "bench", "--quiet", "-p", "gander-term"], cwd=ROOT, check=True)


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    build()
    chosen = sys.argv[1:] or ["startup", "bmc", "cancel", "reading", "load", "terms"]
    for name in chosen:
        {"startup": startup, "bmc": bmc, "cancel": cancel, "reading": reading, "load": load, "terms": terms}[name]()
