#!/usr/bin/env python3
"""Benchmarks on the banking specifications and its families, beside z3's Horn engine. Prints
Markdown tables; docs/benchmarks.md has the last figures.

usage: python3 benches/banking.py [specifications] [limited] [fibonacci] [chains] [--repeats N]
                                  [--timeout S] [--no-build] [--gander PATH]

gander decides everything in one run: the claims of the file and the five checks, with evidence that
is checked. z3 gets Horn clauses, one claim a run, whose times are added up: with one predicate a
node (`nodes`), and with one predicate for all and the node as an argument (`one`), as in appendix D
of the first source document. It gives no run and makes no structural checks. All sides run
interleaved; figures are medians in milliseconds, ratios are theirs by ours.
"""
import json, os, shutil, statistics, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "benches"))
import banking_models as models

GANDER = os.path.join(ROOT, "target", "release", "gander")
REPEATS, TIMEOUT = 5, 60.0


def solver(name):
    """The path of a solver: where `gander setup` put it, or on the PATH."""
    text = subprocess.run([GANDER, "setup"], capture_output=True, text=True).stdout
    paths = [w for w in text.split() if os.path.basename(w).startswith(name) and os.path.isfile(w)]
    return paths[0] if paths else shutil.which(name)


def timed(command):
    """(seconds, standard output); seconds are the time-out if it was reached."""
    begin = time.perf_counter()
    try:
        out = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT).stdout
    except subprocess.TimeoutExpired:
        return TIMEOUT, "timeout"
    return time.perf_counter() - begin, out


class Case:
    """A model for gander, and the same claims as Horn clauses."""

    def __init__(self, name, model, spec, expected, folder):
        self.name, self.model, self.expected = name, model, expected
        self.horn = {}
        for form in ["nodes", "one"]:
            self.horn[form] = []
            for claim, formula in spec.claims.items():
                path = os.path.join(folder, f"{name.replace(' ', '_')}.{claim}.{form}.smt2")
                with open(path, "w") as f:
                    f.write(models.Horn(spec, formula, form).text())
                self.horn[form].append((claim, path))


def ours(case):
    seconds, out = timed([GANDER, "check", "--timeout", str(TIMEOUT), case.model])
    return seconds, out


def theirs(z3, case, form):
    total, answers = 0.0, {}
    for claim, path in case.horn[form]:
        seconds, out = timed([z3, path])
        total += seconds
        word = (out.split() or ["none"])[0]
        answers[claim] = {"sat": "holds", "unsat": "fails"}.get(word, word)
    return total, answers


def compare(case):
    """Whether every claim has its verdict, from the JSON output of a run of its own; and the
    lengths of runs."""
    out = subprocess.run([GANDER, "check", "--json", "--timeout", str(TIMEOUT), case.model], capture_output=True, text=True)
    results = json.loads(out.stdout)["results"]
    wrong = []
    for r in results:
        wanted, length = case.expected.get(r["claim"], ("holds", None))
        if r["verdict"] != wanted:
            wrong.append(f"{r['claim']} {r['verdict']}")
        elif length is not None and r["length"] != length:
            wrong.append(f"{r['claim']} length {r['length']} not {length}")
    return "right" if not wrong else "; ".join(wrong[:3])


def ms(seconds):
    return "over" if seconds >= TIMEOUT else f"{seconds * 1e3:.0f}"


def table(title, z3, cases, peers=("nodes", "one")):
    print(f"\n### {title}\n")
    print("| model | gander ms | verdicts | " + " | ".join(f"z3 {p} ms | ratio" for p in peers) + " | z3 does not decide |")
    print("|---|--:|---|" + "--:|--:|" * len(peers) + "---|")
    for case in cases:
        own, other, open_claims = [], {p: [] for p in peers}, set()
        for _ in range(REPEATS):
            own.append(ours(case)[0])
            for p in peers:
                # A side that ran out of time once is not asked again.
                if other[p] and max(other[p]) >= TIMEOUT:
                    continue
                seconds, answers = theirs(z3, case, p)
                other[p].append(seconds)
                for claim, word in answers.items():
                    wanted = case.expected.get(claim, ("holds", None))[0]
                    if word not in ("holds", "fails"):
                        open_claims.add(claim)
                    elif word != wanted:
                        open_claims.add(f"{claim} is WRONG")
        mine = statistics.median(own)
        cells = []
        for p in peers:
            t = statistics.median(other[p])
            cells.append(f"{'over ' if max(other[p]) >= TIMEOUT else ''}{t * 1e3:.0f} | {t / mine:.1f}")
        print(f"| {case.name} | {ms(mine)} | {compare(case)} | {' | '.join(cells)} | {', '.join(sorted(open_claims))} |", flush=True)


def specifications(z3, folder):
    lengths = {
        "account_holder": {"archived_in_the_past": 0}, "bank_account": {"modest": 1},
        "bank_account_with_interest": {"modest": 1}, "linear_loan": {"never_settled": 3},
        "money_movement": {"all_on_one": 0}, "non_interest_loan": {"never_settled": 2}, "transfer": {"modest": 0},
        "triangle": {"below_three": 1},
    }
    cases = []
    for spec in models.specifications():
        model = os.path.join(ROOT, "examples", "banking", spec.name + ".sts")
        expected = {claim: ("fails", n) for claim, n in lengths[spec.name].items()}
        cases.append(Case(spec.name, model, spec, expected, folder))
    table("The eight specifications: both claims, and in gander the five checks (goal: at most 100 ms)", z3, cases)


def written(folder, name, text):
    path = os.path.join(folder, name + ".sts")
    with open(path, "w") as f:
        f.write(text)
    return path


def limited(z3, folder):
    cases = []
    for most in [100, 1000, 10_000, 100_000, 1_000_000]:
        path = written(folder, f"limited_{most}", models.limited_sts(most))
        expected = {"below_max": ("fails", (most - 50) // 50)}
        cases.append(Case(f"MAX = {most}", path, models.limited(most), expected, folder))
    table("Limited bank account (goal: 100 000 under 500 ms, shortest run)", z3, cases)


def fibonacci(z3, folder):
    cases = []
    for number in [10**k for k in range(1, 13)] + [144, 1597, 1346269]:
        path = written(folder, f"fibonacci_{number}", models.fibonacci_sts(number))
        expected = {} if number % 10 == 0 else {"not_met": ("fails", None)}
        cases.append(Case(f"NUM = {number}", path, models.fibonacci(number), expected, folder))
    table("Fibonacci (goal: under 2 000 ms each)", z3, cases, peers=("nodes",))


def chains(z3, folder):
    cases = []
    for way in ["set", "accumulate"]:
        for m in [10, 100, 1000, 10_000]:
            path = written(folder, f"chain_{way}_{m}", models.chain_sts(m, way))
            expected = {"below": ("fails", 1001)} if way == "accumulate" and m > 1001 else {}
            cases.append(Case(f"{way}, m = {m}", path, models.chain(m, way), expected, folder))
    table("Chains: three claims, and in gander the five checks (goals: m = 1 000 under 1 000 ms, 10 000 under 15 000)",
          z3, cases, peers=("nodes",))


def main(words):
    global GANDER, REPEATS, TIMEOUT
    build = True
    chosen = []
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
        else:
            chosen.append(word)
    if build:
        subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "gander-cli"], cwd=ROOT, check=True)
        subprocess.run([GANDER, "setup"], check=True, stdout=subprocess.DEVNULL)
    z3 = solver("z3")
    parts = {"specifications": specifications, "limited": limited, "fibonacci": fibonacci, "chains": chains}
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen or parts:
            parts[name](z3, folder)


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    main(sys.argv[1:])
