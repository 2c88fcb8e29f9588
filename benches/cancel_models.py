"""Large models for measuring how soon work ends that is no longer wanted: each makes another phase long."""


def wide(n=800):
    """n variables of four values, n transitions: n * n frame conditions."""
    lines = ["spec Wide"] + [f"var v{i}: int 0..3" for i in range(n)]
    lines.append("start { " + " and ".join(f"v{i} == 0" for i in range(n)) + " }")
    lines += [f"step s{i} when v{i} < 3 {{ v{i} := v{i} + 1 }}" for i in range(n)]
    return "\n".join(lines + ["always p: v0 + v1 + v2 <= 8", ""])


def wide_step(n=800):
    """One transition that changes n variables."""
    lines = ["spec WideStep"] + [f"var w{i}: int 0..1000" for i in range(n)]
    lines.append("start { " + " and ".join(f"w{i} == 0" for i in range(n)) + " }")
    terms = [f"w{(7 * i + 1) % n} + k" for i in range(n)]
    changes = "; ".join(f"w{i} := if {t} > 900 then 0 else ({t})" for i, t in enumerate(terms))
    return "\n".join(lines + [f"step s(k: int 0..9) {{ {changes} }}", "always p: w0 <= 950", ""])


def transitions(n=100_000):
    """n transitions over three variables."""
    lines = ["spec Many", "var x, y, z: int", "start { x == 0 and y == 0 and z == 0 }"]
    for i in range(n):
        lines.append(f"step s{i} when x > {i} and y < {7 * i + 3} {{ x := x + {i % 9}; y := y - z + {i % 5} }}")
    return "\n".join(lines + ["always p: x + y + z != -77", ""])


def guard(size=1 << 20):
    """One guard of so many bytes."""
    parts, total, i = [], 0, 0
    while total < size:
        parts.append(f"(x + {i} * y > {3 * i + 1} or y < {i % 97} + x)")
        total += len(parts[-1]) + 5
        i += 1
    guard = " and ".join(parts)
    return f"spec Guard\nvar x, y: int\nstart {{ x == 5 and y == 0 }}\nstep s when {guard} {{ x := x + 1; y := y + x }}\nstep t {{ x := x + 2 }}\nalways p: x != 1000003\n"


def quantifier(n=1_000_000):
    """Quantifiers over n values."""
    return f"""spec Quantifier
var x, y: int
start {{ x == 0 and y == 0 }}
step s when forall i: int. (0 <= i and i < {n}) -> (i * i + x != 7 + 2 * y or i != x + {n}) {{ x := x + 1; y := y + 2 }}
always p: forall i: int. (0 <= i and i < {n}) -> (x + i * i >= y - i or x > 3)
"""


def lustre(operator, size=1 << 20):
    """A Lustre node with one expression of so many bytes."""
    body = f" {operator} ".join(["x"] * (size // 4))
    claim = "y = y" if operator == "*" else "x > 0 => y > 0"
    return f"node main(x: int) returns (y: int);\nlet\n  y = {body};\n  check \"p\" {claim};\ntel\n"


def btor2(n=1500):
    """n memories and n words of 32 bits that go into each other."""
    lines = ["1 sort bitvec 1", "2 sort bitvec 8", "3 sort bitvec 32", "4 sort array 2 3", "5 zero 3", "6 input 2", "7 one 3"]
    at, words, memories = 8, [], []

    def add(text):
        nonlocal at
        lines.append(f"{at} {text}")
        at += 1
        return at - 1

    for i in range(n):
        word = add(f"state 3 w{i}")
        add(f"init 3 {word} 5")
        words.append(word)
        memories.append(add(f"state 4 m{i}"))
    for i in range(n):
        other, memory = words[(7 * i + 1) % n], memories[i]
        low = add(f"slice 2 {other} 7 0")
        read = add(f"read 3 {memory} {low}")
        product = add(f"mul 3 {read} {words[i]}")
        total = add(f"add 3 {product} {other}")
        more = add(f"add 3 {total} 7")
        add(f"next 3 {words[i]} {more}")
        written = add(f"write 4 {memory} 6 {total}")
        add(f"next 4 {memory} {written}")
    bad = add(f"constd 3 123456789")
    add(f"bad {add(f'eq 1 {words[0]} {bad}')}")
    return "\n".join(lines) + "\n"


MODELS = {
    "wide.sts": wide,
    "wide_step.sts": wide_step,
    "transitions.sts": transitions,
    "guard.sts": guard,
    "quantifier.sts": quantifier,
    "product.lus": lambda: lustre("*"),
    "sum.lus": lambda: lustre("+"),
    "memories.btor2": btor2,
}
