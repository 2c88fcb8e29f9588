#!/usr/bin/env python3
"""The four experiments of "Experiments in Unifying Model Checking Approaches" (its section 7),
beside NuSMV and z3. Prints Markdown tables; docs/benchmarks.md has the last figures.

usage: python3 benches/experiments.py [truck] [abp] [abp-verbatim] [abp-any-ack] [shared] [robot]
                                      [--small] [--repeats N] [--timeout S] [--no-build]
                                      [--gander PATH] [--cpu]

NuSMV is the program that the environment variable GANDER_NUSMV names; without it, the one that
`gander doctor` finds, or its columns are missing. It gets `gander export --to smv`, with its order
of variables and with `-dynamic`, and the better of the two counts; z3 gets `--to horn`, or where
steps are limited `--to smt2 --depth N`. What cannot be exported, or not with the claim, is `-`. All
sides run interleaved; figures are medians in seconds, of the clock or with --cpu of the processor,
children included (for a machine that others use; the clock may go on for ten times the limit then);
gander has 60 s if the limit is less. `ratio` is the best of the others by ours. Rows of a table
grow: a tool that was over the limit in two of them, one after the other, is not asked about those
that follow, which say `(over)`. --small leaves out the rows that the others need minutes for.
"""
import os, re, resource, shutil, statistics, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "benches"))
import experiment_models as models

GANDER = os.path.join(ROOT, "target", "release", "gander")
NUSMV = os.environ.get("GANDER_NUSMV")
# Rows in which a tool must be over before it is not asked again; seconds that gander has at least.
OFTEN_OVER, OWN_LIMIT = 2, 60.0
REPEATS, TIMEOUT, CPU, SMALL = 3, 60.0, False, False


def z3_path():
    """Where `gander setup` put z3, or on the PATH."""
    text = subprocess.run([GANDER, "setup"], capture_output=True, text=True).stdout
    paths = [w for w in text.split() if os.path.basename(w).startswith("z3") and os.path.isfile(w)]
    return paths[0] if paths else shutil.which("z3")


def nusmv_path():
    """The NuSMV that `gander doctor` finds."""
    words = subprocess.run([GANDER, "doctor"], capture_output=True, text=True).stdout.split()
    paths = [w for w in words if "nusmv" in os.path.basename(w).lower() and os.path.isfile(w)]
    return paths[0] if paths else None


def timed(command, limit=None):
    """(seconds, standard output); none for the output if the time was up."""
    limit = limit or TIMEOUT
    environment = dict(os.environ)
    if command[0] == NUSMV:
        environment["LD_LIBRARY_PATH"] = os.path.dirname(NUSMV)
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    try:
        # What has a process of its own is ended at the limit of the processor.
        alone = None
        if CPU and command[0] != GANDER:
            whole = int(limit) + 1
            alone = lambda: resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
        run = subprocess.run(command, capture_output=True, text=True, timeout=limit * 10 if CPU else limit, env=environment,
                             preexec_fn=alone)
        out = run.stdout
    except subprocess.TimeoutExpired:
        out = None
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if CPU:
        seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return seconds, out if seconds <= limit else None


def ours(model):
    limit = max(TIMEOUT, OWN_LIMIT)
    seconds, out = timed([GANDER, "check", "--timeout", str(limit * 10 if CPU else limit), model], limit)
    word = re.match(r"(holds|fails|unknown)", out or "")
    return seconds, word.group(1) if word else None


def nusmv(model):
    best = (TIMEOUT, None)
    for words in [["-dynamic"], []]:
        seconds, out = timed([NUSMV, "-dcx"] + words + [model], best[0])
        answers = re.findall(r"is (true|false)\s*$", out or "", re.M)
        if answers and seconds < best[0]:
            best = (seconds, answers[0])
    return best


def z3(model):
    seconds, out = timed([Z3, model])
    word = (out or "").split()
    return seconds, word[0] if word and word[0] in ("sat", "unsat") else None


def exported(path, to, depth=None):
    out = f"{path}.{to}"
    command = [GANDER, "export", "--to", to, path, "--output", out] + (["--depth", str(depth)] if depth else [])
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0 or not os.path.exists(out):
        return None
    with open(out) as f:
        return None if "left out: the claim" in f.read() else out


def table(title, rows, folder):
    """Rows are (name, text, MAXSTEPS or none, wanted verdict)."""
    peers = (["NuSMV"] if NUSMV else []) + ["z3"]
    print(f"\n### {title}\n\n| instance | gander s | verdict | {' | '.join(p + ' s' for p in peers)} | ratio |")
    print("|---|--:|---|" + "--:|" * (len(peers) + 1))
    over = {p: 0 for p in peers}
    for name, text, steps, wanted in rows:
        path = os.path.join(folder, re.sub(r"\W+", "_", name) + ".script")
        with open(path, "w") as f:
            f.write(text)
        files = {"NuSMV": NUSMV and exported(path, "smv"),
                 "z3": exported(path, "smt2", steps) if steps else exported(path, "horn")}
        own, verdicts, others = [], set(), {p: [] for p in peers}
        for _ in range(REPEATS):
            seconds, verdict = ours(path)
            own.append(seconds)
            verdicts.add(verdict)
            for p in peers:
                # A side that failed once is not asked again.
                if files[p] and None not in others[p] and over[p] < OFTEN_OVER:
                    seconds, answer = (nusmv if p == "NuSMV" else z3)(files[p])
                    others[p].append(seconds if answer else None)
        mine = statistics.median(own)
        decided = verdicts == {wanted}
        shown, best = [], None
        for p in peers:
            if not files[p]:
                shown.append("-")
            elif over[p] >= OFTEN_OVER:
                shown.append("(over)")
            elif None in others[p]:
                over[p] += 1
                shown.append("over")
            else:
                over[p] = 0
                seconds = statistics.median(others[p])
                shown.append(f"{seconds:.2f}")
                best = seconds if best is None else min(best, seconds)
        ratio = f"{best / mine:.1f}" if best is not None and decided else ""
        print(f"| {name} | {mine:.2f} | {wanted if decided else verdicts} | {' | '.join(shown)} | {ratio} |", flush=True)


def truck(folder):
    for any_amount, title, least in [(False, "Truck", 319), (True, "Truck, any amount is unloaded", 318)]:
        rows = [(f"capacity {c}", models.truck(c, any_amount), None, "holds" if c >= least else "fails")
                for c in range(315, 323)]
        table(title, rows, folder)


def abp(folder, variant="ours"):
    for any_array in [False, True]:
        for ints in [False, True]:
            for limited in [True, False]:
                sizes = [1, 2, 3, 5, 7] if SMALL else [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 20]
                rows = []
                for q in sizes:
                    steps = 10 + 4 * q if limited else None
                    rows.append((f"queue {q}", models.abp(q, ints, any_array, steps, variant), steps, "holds"))
                words = [VARIANTS[variant], "any array" if any_array else "fixed array", "ints" if ints else "bools",
                         "limited steps" if limited else "unlimited"]
                table("Alternating bit: " + ", ".join(words), rows, folder)


VARIANTS = {"ours": "stored by the receiver's count", "verbatim": "verbatim (appendix G)",
            "any-ack": "any acknowledgement accepted"}


SHARED = {2: 3, 4: 6, 8: 9, 16: 12, 32: 15, 64: 18, 128: 21, 256: 24, 512: 27, 6: 9, 15: 15, 31: 21, 63: 24, 127: 30, 156: 27,
          222: 30, 355: 33, 404: 33, 543: 36, 689: 36, 713: 39, 860: 36, 917: 39, 1000: 36}


def shared(folder):
    values = [v for v in SHARED if not SMALL or v in (2, 16, 128, 6, 63, 156, 1000)]
    table("Shared variable, limited steps", [(f"c = {v}", models.shared(v, SHARED[v]), SHARED[v], "holds") for v in values],
          folder)
    table("Shared variable, unlimited", [(f"c = {v}", models.shared(v), None, "holds") for v in values], folder)


def robot(folder):
    sizes = {2: 8, 3: 24, 4: 28, 5: 40}
    table("Robot, limited steps", [(f"{n}x{n}", models.robot(n, s), s, "holds") for n, s in sizes.items()], folder)
    table("Robot, unlimited", [(f"{n}x{n}", models.robot(n), None, "holds") for n in [2, 3, 4, 5, 6]], folder)
    if not SMALL:
        rows = [(f"5x5, {s} steps", models.robot(5, s), s, "holds" if s >= 40 else "fails") for s in [34, 36, 38, 40]]
        table("Robot, the shortest strategy", rows, folder)


def main(words):
    global GANDER, REPEATS, TIMEOUT, CPU, SMALL, Z3, NUSMV
    build, chosen = True, []
    while words:
        word = words.pop(0)
        if word == "--repeats":
            REPEATS = int(words.pop(0))
        elif word == "--timeout":
            TIMEOUT = float(words.pop(0))
        elif word == "--gander":
            GANDER, build = os.path.abspath(words.pop(0)), False
        elif word == "--no-build":
            build = False
        elif word == "--cpu":
            CPU = True
        elif word == "--small":
            SMALL = True
        else:
            chosen.append(word)
    if build:
        subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "gander-cli"], cwd=ROOT, check=True)
        subprocess.run([GANDER, "setup"], check=True, stdout=subprocess.DEVNULL)
    Z3 = z3_path()
    NUSMV = NUSMV or nusmv_path()
    parts = {"truck": truck, "abp": abp, "abp-verbatim": lambda folder: abp(folder, "verbatim"),
             "abp-any-ack": lambda folder: abp(folder, "any-ack"), "shared": shared, "robot": robot}
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen or parts:
            parts[name](folder)


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    main(sys.argv[1:])
