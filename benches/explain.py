#!/usr/bin/env python3
"""What validity cores cost. Prints Markdown; docs/benchmarks.md has the last figures.

usage: python3 benches/explain.py FOLDER [--gander PATH] [--part one|core|minimal|all] [--peers CSV]
           [--repeat N] [--timeout SECONDS] [--minimal-timeout SECONDS] [--match TEXT]

one      the proof alone (`gander check`) beside the proof with one core (`gander explain`), for
         each model in FOLDER, the two taking turns; of N runs the fastest counts. The goal: summed
         over files whose proof takes 0.1 s or more, at most 1.15 times.
core     what the cores alone take, in processor seconds, with proofs from a cache: `gander explain`
         less `gander check`. That depends neither on which engine was faster nor much on other work
         on the machine.
minimal  the sizes of the cores beside those of `--minimal`; the goal: at most 1.05 times in sum.
all      `--all` on the files of a CSV of another tool (path, all_cores_s, all_finished), paths
         below the folder of the CSV.
"""
import argparse, csv, json, os, resource, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(command):
    """Exit code, output, seconds on the clock, seconds of processor time."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    work = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, done.stdout.decode("utf-8", "replace"), took, work


def models(folder, match):
    for where, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith(".lus") and match in os.path.join(where, name):
                yield os.path.join(where, name)


def one(gander, args):
    rows = []
    for path in models(args.folder, args.match):
        limit = ["--timeout", str(args.timeout)]
        proof, core = [], []
        for _ in range(args.repeat):
            code, _, took, work = run([gander, "check", "--checks", "none", *limit, path])
            if code != 0:
                break
            proof.append((took, work))
            code, _, took, work = run([gander, "explain", *limit, path])
            if code != 0:
                break
            core.append((took, work))
        if len(core) < args.repeat:
            print(f"left out, not all properties are proved and explained: {os.path.basename(path)}", file=sys.stderr)
            continue
        fastest = lambda runs: (min(r[0] for r in runs), min(r[1] for r in runs))
        rows.append((path, fastest(proof), fastest(core)))
        print(f"{os.path.basename(path)} {rows[-1][1]} {rows[-1][2]}", file=sys.stderr, flush=True)
    print("| files | | proof s | with one core s | ratio |\n|---|--:|--:|--:|--:|")
    for label, kept in [("proof takes 0.1 s or more", [r for r in rows if r[1][0] >= 0.1]), ("all", rows)]:
        for what, i in [("clock", 0), ("processor", 1)]:
            a, b = sum(r[1][i] for r in kept), sum(r[2][i] for r in kept)
            print(f"| {label}, {what} | {len(kept)} | {a:.2f} | {b:.2f} | {b / a if a else 0:.2f} |")


def core(gander, args):
    total = 0
    for path in models(args.folder, args.match):
        with tempfile.TemporaryDirectory() as cache:
            limit = ["--timeout", str(args.timeout), "--cache", cache, path]
            if run([gander, "check", "--checks", "none", *limit])[0] != 0:
                continue
            work = lambda *command: min(run([gander, *command, *limit])[3] for _ in range(args.repeat))
            alone = work("explain") - work("check", "--checks", "none")
        total += alone
        print(f"| {os.path.basename(path)} | {1000 * alone:.0f} ms |", flush=True)
    print(f"| sum | {total:.2f} s |")


def sizes(text):
    results = json.loads(text)["results"]
    return sum(len(r["cores"][0]) for r in results if r["cores"]), any(r["approximate"] for r in results)


def minimal(gander, args):
    rows, open_ = [], []
    for path in models(args.folder, args.match):
        code, text, _, _ = run([gander, "explain", "--json", "--timeout", str(args.timeout), path])
        if code != 0:
            continue
        size, _ = sizes(text)
        code, text, took, _ = run([gander, "explain", "--minimal", "--json", "--timeout", str(args.minimal_timeout), path])
        least, approximate = sizes(text) if code == 0 else (0, True)
        print(f"{os.path.basename(path)} {size} {least} {took:.1f}{' approximate' if approximate else ''}", file=sys.stderr, flush=True)
        (open_ if approximate else rows).append((size, least))
    print("| | files | one core | minimal | ratio |\n|---|--:|--:|--:|--:|")
    for label, kept in [("minimal for certain", rows), ("approximate", open_)]:
        a, b = sum(r[0] for r in kept), sum(r[1] for r in kept)
        print(f"| {label} | {len(kept)} | {a} | {b} | {a / b if b else 0:.3f} |")


def every(gander, args):
    print("| model | elements | cores | s | other tool s |\n|---|--:|--:|--:|--:|")
    with open(args.peers) as f:
        for row in csv.DictReader(f):
            path = os.path.join(os.path.dirname(args.peers), row["path"])
            if args.match not in path:
                continue
            code, text, took, _ = run([gander, "explain", "--all", "--json", "--timeout", str(args.timeout), path])
            results = json.loads(text)["results"] if code in (0, 3) else []
            cores, least_known = (sum(n(r) for r in results) for n in (lambda r: len(r["cores"]), lambda r: r["found"]))
            done = bool(results) and all(r["complete"] for r in results)
            least = all(not r["approximate"] for r in results)
            said = f"{cores}" if done else f"{cores} so far, {least_known} minimal for certain" + ("" if least else ", approximate")
            other = row["all_cores_s"] if row["all_finished"] == "True" else "not finished in 30"
            print(f"| {os.path.basename(path)} | {row['elements']} | {said} | {took:.2f} | {other} |", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder")
    p.add_argument("--gander")
    p.add_argument("--part", default="one", choices=["one", "core", "minimal", "all"])
    p.add_argument("--peers")
    p.add_argument("--repeat", type=int, default=3)
    p.add_argument("--timeout", type=int, default=30)
    p.add_argument("--minimal-timeout", type=int, default=60)
    p.add_argument("--match", default="")
    args = p.parse_args()
    if not args.gander:
        subprocess.run(["cargo", "build", "--release", "-p", "gander-cli"], cwd=ROOT, check=True)
    gander = args.gander or os.path.join(ROOT, "target/release/gander")
    {"one": one, "core": core, "minimal": minimal, "all": every}[args.part](gander, args)


main()
