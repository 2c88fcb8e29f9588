#!/usr/bin/env python3
"""What verdicts rest on, and what that costs.

    benches/trust.py MANIFEST --gander PATH [--before PATH] [--language lustre] [--sample 60]
        [--repeats 5]

Checks a sample of the models of a manifest (a table whose first two columns are path and language)
with the default trust and with `--trust one`, and with another build if one is given, interleaved,
each several times. Prints how many verdicts rest on what, and the ratios of the medians, file by
file: their median, and that of the sums.
"""

import argparse
import collections
import json
import pathlib
import random
import statistics
import subprocess
import time


def run(command):
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    try:
        return seconds, json.loads(done.stdout)["results"]
    except (ValueError, KeyError, TypeError):
        return seconds, []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=pathlib.Path)
    parser.add_argument("--gander", required=True)
    parser.add_argument("--before", help="another build, for example of an earlier commit")
    parser.add_argument("--language", default="lustre")
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=5)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    rows = [line.split("\t") for line in options.manifest.read_text().splitlines()[1:]]
    files = sorted({row[0] for row in rows if row[1] == options.language})
    random.Random(options.seed).shuffle(files)
    common = ["check", "--json", "--timeout", str(options.timeout)]
    ways = {"default": [options.gander, *common], "trust one": [options.gander, *common, "--trust", "one"]}
    if options.before:
        ways["before"] = [options.before, *common]
    grounds, times = collections.Counter(), []
    for file in files[: options.sample]:
        path = str(options.manifest.parent / file)
        seconds = collections.defaultdict(list)
        results = []
        for _ in range(options.repeats):
            for way, command in ways.items():
                taken, answer = run([*command, path])
                seconds[way].append(taken)
                if way == "default":
                    results = answer
        grounds.update((r["rests_on"] or {"ground": "unknown"})["ground"] for r in results)
        times.append({way: statistics.median(taken) for way, taken in seconds.items()})
    print(f"{len(times)} files:", ", ".join(f"{n} {ground}" for ground, n in grounds.most_common()))
    for way in list(ways)[1:]:
        ratios = sorted(t["default"] / t[way] for t in times)
        whole = sum(t["default"] for t in times) / sum(t[way] for t in times)
        worst = ", ".join(f"{r:.2f}" for r in ratios[-3:])
        print(f"default / {way}: median {statistics.median(ratios):.3f}, of the sums {whole:.3f}, worst {worst}")
        print(f"  median check: {statistics.median(t['default'] for t in times) * 1e3:.1f} ms and",
              f"{statistics.median(t[way] for t in times) * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
