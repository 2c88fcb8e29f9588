#!/usr/bin/env python3
"""What single methods bring: checks with and without each method (`gander check --without METHOD`).

usage: python3 benches/ablation.py [--gander PATH] [--method NAME]... [--timeout S] [--repeats N]
                                   FILE|FOLDER|MANIFEST.tsv...

Each file is checked with all methods and without one of them, interleaved. Prints a row for each
file on which the number of undecided claims differs or the medians of the seconds differ by more
than a half and 0.1 s, and a table of the sums. A manifest is a TSV file whose first column has
paths relative to its folder. docs/benchmarks.md has the last figures.
"""
import argparse, json, os, statistics, subprocess, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
METHODS = ["step-lower-bounds", "copies", "polyhedral-eg", "sizes", "start-up", "symmetry"]
MODELS = (".sts", ".lus", ".script", ".smv", ".vmt", ".smt2", ".btor", ".btor2", ".mcmt")


def models(paths):
    """The models below folders, in manifests and among files; each once, in order."""
    found = []
    for path in paths:
        if path.endswith(".tsv"):
            folder = os.path.dirname(os.path.abspath(path))
            rows = open(path, encoding="utf-8").read().splitlines()[1:]
            found += [os.path.join(folder, row.split("\t")[0]) for row in rows if row]
        elif os.path.isdir(path):
            for folder, _, names in sorted(os.walk(path)):
                if os.path.basename(folder) != "error":
                    found += [os.path.join(folder, name) for name in sorted(names)]
        else:
            found.append(path)
    return [f for f in dict.fromkeys(found) if f.endswith(MODELS)]


def check(gander, path, timeout, without):
    """(undecided claims, seconds); none if the file is not accepted."""
    command = [gander, "check", "--checks", "all", "--json", "--timeout", str(timeout), path]
    command += ["--without", without] if without else []
    begin = time.perf_counter()
    run = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if run.returncode not in (0, 1, 3):
        return None
    report = json.loads(run.stdout)
    systems = report if isinstance(report, list) else [report]
    claims = [claim for system in systems for claim in system["results"]]
    return sum(claim["verdict"] == "unknown" for claim in claims), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--gander", default=os.path.join(ROOT, "target", "release", "gander"))
    parser.add_argument("--method", action="append", choices=METHODS)
    parser.add_argument("--timeout", type=float, default=5.0)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    files, table = models(options.models), []
    for method in options.method or METHODS:
        compared, undecided, sums, ratios = 0, [0, 0], [0.0, 0.0], []
        for path in files:
            sides = [[], []]
            for _ in range(options.repeats):
                for side, without in zip(sides, (None, method)):
                    side.append(check(options.gander, path, options.timeout, without))
            if None in sides[0] + sides[1]:
                continue
            compared += 1
            open_claims = [min(u for u, _ in side) for side in sides]
            seconds = [statistics.median(s for _, s in side) for side in sides]
            ratios.append(seconds[1] / seconds[0])
            for i in range(2):
                undecided[i] += open_claims[i]
                sums[i] += seconds[i]
            slower, faster = max(seconds), min(seconds)
            if open_claims[0] != open_claims[1] or (slower > 1.5 * faster and slower - faster > 0.1):
                print(f"{method}: {path}: undecided {open_claims[0]}, without {open_claims[1]}; "
                      f"{seconds[0]:.2f} s, without {seconds[1]:.2f} s", flush=True)
        ratio = statistics.median(ratios) if ratios else 1.0
        table.append((method, compared, undecided, sums, ratio))
    print("\n| method | files | undecided with, without | seconds with, without | median ratio |")
    print("|---|--:|--:|--:|--:|")
    for method, compared, undecided, sums, ratio in table:
        print(f"| {method} | {compared} | {undecided[0]}, {undecided[1]} | {sums[0]:.1f}, {sums[1]:.1f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
