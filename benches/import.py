#!/usr/bin/env python3
"""How long it takes to read large files of other tools: VMT-LIB, Horn clauses and BTOR2.
docs/benchmarks.md has the last figures.

usage: python3 benches/import.py [--megabytes N] [--repeats N] [--no-build] [--gander PATH]
           [--keep FOLDER]

Each language in two shapes: many small definitions, and few large formulas. `gander graph` reads
the file, builds the system and writes its graph, which is small; the figures are the least of the
repeats, in seconds of the clock and of the processor.
"""
import os, random, resource, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GANDER = os.path.join(ROOT, "target", "release", "gander")


def upto(size, head, piece, tail):
    """Pieces until the text is that long; `piece` gets a number, `tail` how many there were."""
    text, length, k = [head], len(head), 0
    while length < size:
        part = piece(k)
        text.append(part)
        length += len(part)
        k += 1
    return "".join(text) + tail(k)


def vmt_small(size):
    """Counters, each with a step of its own."""
    def piece(k):
        step = f"(= c{k}.next (ite (and go{k} (< c{k} {k % 97 + 3})) (+ c{k} {k % 7 + 1}) (ite (> c{k} 1000) 0 c{k})))"
        return (f"(declare-fun c{k} () Int)\n(declare-fun c{k}.next () Int)\n(declare-fun go{k} () Bool)\n"
                f"(define-fun .sv{k} () Int (! c{k} :next c{k}.next))\n(define-fun .init{k} () Bool (! (= c{k} {k % 5}) :init true))\n"
                f"(define-fun .trans{k} () Bool (! {step} :trans true))\n")
    return upto(size, "", piece, lambda n: "(define-fun p () Bool (! (>= c0 0) :invar-property 0))\n")


def vmt_large(size):
    """Few variables, one relation as a chain of definitions over them."""
    rng = random.Random(1)
    head = "".join(f"(declare-fun x{i} () Int)\n(declare-fun x{i}.next () Int)\n(define-fun .s{i} () Int (! x{i} :next x{i}.next))\n"
                   for i in range(20))
    names = [f"x{i}" for i in range(20)]

    def piece(k):
        a, b, c = rng.choice(names), rng.choice(names[-30:]), rng.choice(names[-30:])
        names.append(f".d{k}")
        return f"(define-fun .d{k} () Int (ite (and (<= {a} (+ {b} {k % 13})) (not (= {c} {k}))) (- {b} {c}) (+ {a} {c} 1)))\n"

    def tail(n):
        steps = " ".join(f"(= x{i}.next .d{n - 1 - i})" for i in range(20))
        return (f"(define-fun .init () Bool (! (and {' '.join(f'(= x{i} 0)' for i in range(20))}) :init true))\n"
                f"(define-fun .trans () Bool (! (and {steps}) :trans true))\n"
                "(define-fun p () Bool (! (>= x0 0) :invar-property 0))\n")
    return upto(size, head, piece, tail)


def horn_small(size):
    """A long program: a predicate for each place, a clause for each step."""
    def piece(k):
        return (f"(declare-fun P{k + 1} (Int Int Int) Bool)\n(assert (forall ((x Int) (y Int) (z Int) (w Int))\n"
                f"  (=> (and (P{k} x y z) (= w (+ x {k % 9})) (<= y {k % 100 + 50}) (not (= z {k}))) (P{k + 1} w (- y 1) (+ z y)))))\n")
    head = "(set-logic HORN)\n(declare-fun P0 (Int Int Int) Bool)\n(assert (forall ((x Int)) (=> (= x 0) (P0 x 0 0))))\n"
    return upto(size, head, piece, lambda n: f"(assert (forall ((x Int) (y Int) (z Int)) (=> (and (P{n} x y z) (< x 0)) false)))\n")


def horn_large(size):
    """One loop whose body is one large formula with `let`s."""
    rng = random.Random(2)
    names = ["x", "y", "z"]

    def piece(k):
        a, b, c = rng.choice(names), rng.choice(names[-20:]), rng.choice(names[-20:])
        names.append(f"t{k}")
        return f"(let ((t{k} (ite (<= {a} (+ {b} {k % 11})) (+ {c} {k % 5}) (- {b} {a}))))\n"
    head = ("(set-logic HORN)\n(declare-fun L (Int Int Int) Bool)\n(assert (forall ((x Int)) (=> (= x 0) (L x x x))))\n"
            "(assert (forall ((x Int) (y Int) (z Int) (x1 Int)) (=> (and (L x y z)\n")

    def tail(n):
        return (f"(= x1 t{n - 1}){')' * n}) (L x1 x y))))\n"
                "(assert (forall ((x Int) (y Int) (z Int)) (=> (and (L x y z) (< x 0)) false)))\n")
    return upto(size, head, piece, tail)


def btor_small(size):
    """Registers of 8 bits, each with a next value of its own."""
    line = [6]

    def piece(k):
        n = line[0]
        line[0] += 7
        return (f"{n} state 2 r{k}\n{n + 1} init 2 {n} 3\n{n + 2} input 1 i{k}\n{n + 3} constd 2 {k % 200 + 5}\n"
                f"{n + 4} add 2 {n} {n + 3}\n{n + 5} ite 2 {n + 2} {n + 4} {n}\n{n + 6} next 2 {n} {n + 5}\n")
    head = "1 sort bitvec 1\n2 sort bitvec 8\n3 zero 2\n4 ones 2\n5 constd 2 17\n"
    return upto(size, head, piece, lambda n: f"{line[0]} eq 1 6 4\n{line[0] + 1} bad {line[0]} full\n")


def btor_large(size):
    """Few registers, one deep and wide circuit."""
    rng = random.Random(3)
    line = [26]
    ops = ["add", "xor", "and", "or", "sub", "mul"]

    def piece(k):
        n = line[0]
        line[0] += 1
        return f"{n} {rng.choice(ops)} 2 {rng.randrange(max(6, n - 40), n)} {rng.randrange(6, n)}\n"

    def tail(n):
        last = line[0]
        nexts = "".join(f"{last + i} next 2 {6 + i} {last - 1 - i}\n" for i in range(20))
        return nexts + f"{last + 20} eq 1 6 4\n{last + 21} bad {last + 20} full\n"
    head = "1 sort bitvec 1\n2 sort bitvec 32\n3 zero 2\n4 ones 2\n5 constd 2 17\n"
    head += "".join(f"{6 + i} state 2 r{i}\n" for i in range(20))
    return upto(size, head, piece, tail)


SHAPES = [("VMT-LIB, many definitions", vmt_small, "vmt"), ("VMT-LIB, one large relation", vmt_large, "vmt"),
          ("Horn, many clauses", horn_small, "smt2"), ("Horn, one large clause", horn_large, "smt2"),
          ("BTOR2, many registers", btor_small, "btor2"), ("BTOR2, one large circuit", btor_large, "btor2")]


def main(words):
    global GANDER
    build, repeats, megabytes, keep = True, 3, 5.0, None
    while words:
        word = words.pop(0)
        if word == "--megabytes":
            megabytes = float(words.pop(0))
        elif word == "--repeats":
            repeats = int(words.pop(0))
        elif word == "--gander":
            GANDER, build = os.path.abspath(words.pop(0)), False
        elif word == "--no-build":
            build = False
        elif word == "--keep":
            keep = words.pop(0)
        else:
            sys.exit(__doc__)
    if build:
        subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "gander-cli"], cwd=ROOT, check=True)
    print("| file | MB | s | processor s | peak MB |\n|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for k, (name, make, extension) in enumerate(SHAPES):
            path = os.path.join(keep or folder, f"import{k}.{extension}")
            with open(path, "w") as f:
                f.write(make(int(megabytes * 1e6)))
            clock, processor, peak = [], [], 0
            for _ in range(repeats):
                before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
                done = subprocess.run([GANDER, "graph", "--format", "dot", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                clock.append(time.perf_counter() - begin)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
                peak = max(peak, after.ru_maxrss / 1000)
                if done.returncode != 0:
                    sys.exit(f"{name}: {done.stderr[:2000]}")
            size = os.path.getsize(path) / 1e6
            print(f"| {name} | {size:.1f} | {min(clock):.2f} | {min(processor):.2f} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    main(sys.argv[1:])
