#!/usr/bin/env python3
"""The portfolio beside each of its engines alone. Prints Markdown; docs/benchmarks.md has the last
figures.

usage: python3 benches/portfolio.py MANIFEST --out DIR [--gander PATH] [--bench PATH]
           [--language lustre] [--engines a,b,c] [--sample N] [--seed S] [--timeout SECONDS]

Runs gander-bench on a sample of a manifest with the portfolio and with every engine alone, one job
at a time, the tools taking turns in going first. For each file that the portfolio or an engine
solves, the time of the portfolio is compared with that of the best engine: the goal is at most
twice that and 50 ms, on 90 % of the files. Without --gander and --bench the release commands are
built.
"""
import argparse, csv, os, statistics, subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("manifest")
    p.add_argument("--out", required=True)
    p.add_argument("--gander")
    p.add_argument("--bench")
    p.add_argument("--language", default="lustre")
    p.add_argument("--engines", default="simulate,bmc,induction,pdr,invariants,accelerate,explicit")
    p.add_argument("--sample", type=int, default=60)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--timeout", type=int, default=3)
    args = p.parse_args()
    if not (args.gander and args.bench):
        subprocess.run(["cargo", "build", "--release", "-p", "gander", "-p", "gander-bench"], cwd=ROOT, check=True)
    gander = args.gander or os.path.join(ROOT, "target/release/gander")
    bench = args.bench or os.path.join(ROOT, "target/release/gander-bench")
    engines = args.engines.split(",")
    command = [bench, "run", args.manifest, "--language", args.language, "--tools", ",".join(["gander"] + engines),
               "--program", f"gander={gander}", "--timeout", str(args.timeout), "--out", args.out,
               "--sample", str(args.sample), "--seed", str(args.seed)]
    for e in engines:
        command += ["--variant", f"{e}=gander --engine {e}"]
    # Exit code 1 says that a verdict was wrong or a job crashed; the report names it.
    code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    times = {}
    with open(os.path.join(args.out, "files.csv")) as f:
        for row in csv.DictReader(f):
            if row["score"] in ("solved", "extra"):
                times.setdefault(row["path"], {})[row["tool"]] = float(row["seconds"])
    solved = {t: sum(t in by for by in times.values()) for t in ["gander"] + engines}
    best, within, late, lost = 0, 0, [], []
    for path, by in sorted(times.items()):
        alone = min((s for t, s in by.items() if t != "gander"), default=None)
        if alone is None:
            continue
        best += 1
        if "gander" not in by:
            lost.append((path, alone))
        elif by["gander"] <= 2 * alone + 0.05:
            within += 1
        else:
            late.append((path, by["gander"], alone, min(by, key=by.get)))
    print("| | files solved | median s |\n|---|--:|--:|")
    for tool in ["gander"] + engines:
        seconds = [by[tool] for by in times.values() if tool in by]
        median = f"{statistics.median(seconds):.3f}" if seconds else "-"
        print(f"| {'portfolio' if tool == 'gander' else tool} | {solved[tool]} | {median} |")
    print(f"\nOf {best} files that some engine solves alone in {args.timeout} s, the portfolio takes at most twice the time of the "
          f"best one and 50 ms on {within} ({100 * within / max(best, 1):.0f} %). gander-bench ended with {code}.")
    for path, s, alone, who in late:
        print(f"- late: {path}: {s:.2f} s, {who} alone {alone:.2f} s")
    for path, alone in lost:
        print(f"- lost: {path}: an engine alone {alone:.2f} s")


main()
