#!/usr/bin/env python3
"""Backward reachability on models of benches/protocol.py: the shape of a cash register protocol
(228 locations, 541 switches, 67 gates), once to ten times. Every claim has a known answer; a wrong
or missing one is shown.

usage: python3 benches/backward.py [SIZE ...]     (1 2 5 10 without arguments)

GANDER names the command to measure; without it the release command is built.
"""
import collections, json, os, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import protocol

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def command():
    if "GANDER" in os.environ:
        return os.environ["GANDER"]
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "gander-cli"], cwd=ROOT, check=True)
    return os.path.join(ROOT, "target", "release", "gander")


def main():
    gander = command()
    sizes = [int(a) for a in sys.argv[1:]] or [1, 2, 5, 10]
    print("| size | locations | switches | gates | claims | wall s | decided | wrong |\n|---|---|---|---|---|---|---|---|")
    for size in sizes:
        text = protocol.model(size, 1)
        dead = int(text.split(" gates and ")[1].split()[0])
        with tempfile.NamedTemporaryFile("w", suffix=".sts") as f:
            f.write(text)
            f.flush()
            begin = time.perf_counter()
            run = subprocess.run([gander, "check", "--engine", "backward", "--timeout", "300", "--json", f.name],
                                 capture_output=True, text=True)
            wall = time.perf_counter() - begin
        claims = json.loads(run.stdout)["results"]
        verdicts = collections.Counter(c["verdict"] for c in claims)
        wrong = sum(1 for c in claims if c["kind"] == "reachable" and c["verdict"] != "unknown"
                    and (c["verdict"] == "holds") != c["claim"].startswith("live_"))
        # Besides the gates, the switches that were planted: nothing else is dead.
        wrong += max(0, sum(1 for c in claims if c["kind"] == "can-enable" and c["verdict"] == "fails") - dead)
        decided = verdicts["holds"] + verdicts["fails"]
        print(f"| {size}x | {228 * size} | {541 * size} | {67 * size} | {len(claims)} | {wall:.1f} | {decided} | {wrong} |")


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    main()
