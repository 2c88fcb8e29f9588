#!/usr/bin/env python3
"""gander beside z3's Horn engine alone, on the same systems. Prints Markdown; docs/benchmarks.md
has the last figures.

usage: python3 benches/horn.py MANIFEST --out DIR [--gander PATH] [--bench PATH] [--language lustre]
           [--sample N] [--seed S] [--timeout SECONDS]

The engine `horn` hands the system that gander has made of a model to z3 (Spacer), and has the
answer checked. Files are all of the manifest unless --sample says how many. The goal, at 60 s: more
solved, and a lower PAR-2. Without --gander and --bench the release commands are built.
"""
import argparse, csv, os, subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("manifest")
    p.add_argument("--out", required=True)
    p.add_argument("--gander")
    p.add_argument("--bench")
    p.add_argument("--language", default="lustre")
    p.add_argument("--sample", type=int)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--timeout", type=int, default=60)
    args = p.parse_args()
    if not (args.gander and args.bench):
        subprocess.run(["cargo", "build", "--release", "-p", "gander", "-p", "gander-bench"], cwd=ROOT, check=True)
    gander = args.gander or os.path.join(ROOT, "target/release/gander")
    bench = args.bench or os.path.join(ROOT, "target/release/gander-bench")
    command = [bench, "run", args.manifest, "--language", args.language, "--tools", "gander,horn",
               "--variant", "horn=gander --engine horn", "--program", f"gander={gander}",
               "--timeout", str(args.timeout), "--out", args.out]
    if args.sample:
        command += ["--sample", str(args.sample), "--seed", str(args.seed)]
    # Exit code 1 says that a verdict was wrong or a job crashed; the report names it.
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    report = open(os.path.join(args.out, "report.md")).read()
    print(report.split("## Files\n")[1].split("\n## ")[0].strip())
    solved = {}
    for row in csv.DictReader(open(os.path.join(args.out, "files.csv"))):
        solved.setdefault(row["path"], {})[row["tool"]] = row
    lost = [path for path, by in solved.items()
            if {"gander", "horn"} <= by.keys()
            and by["horn"]["score"] == "solved" and by["gander"]["score"] != "solved"]
    print("\nSolved by z3's Horn engine and not by gander: " + (", ".join(sorted(lost)) or "none") + ".")


main()
