"""Large models for measuring how soon work ends that is no longer wanted: each makes another phase
long."""


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


def pieces(size, head, piece, tail):
    """Numbered pieces until there are so many bytes."""
    text, length = [head], len(head)
    while length < size:
        text.append(piece(len(text) - 1))
        length += len(text[-1])
    return "".join(text) + tail


def smv(size):
    """Counters."""
    piece = lambda k: (f"VAR c{k} : 0..{k % 90 + 9};\nVAR go{k} : boolean;\nASSIGN init(c{k}) := 0;\n"
                       f"next(c{k}) := case go{k} & c{k} < {k % 9 + 3} : c{k} + 1; TRUE : 0; esac;\n")
    return pieces(size, "MODULE main\n", piece, "INVARSPEC c0 >= 0;\n")


def script(size):
    """Rules."""
    piece = lambda k: f"  ? x > {k} & y < {7 * k + 3} -> x, y = x + {k % 9}, y - {k % 5};\n"
    return pieces(size, "VARS: int x; int y;\nINIT: x = 0; y = 0;\nTRANS:\n", piece, "SAFE: x >= 0\n")


def mcmt(size):
    """Transitions."""
    piece = lambda k: (f"(define-transition t{k} S (and (> state.x {k}) (= next.x (+ state.x {k % 9})) (= next.y (- state.y {k % 5}))))\n")
    head = "(define-state-type S ((x Int) (y Int)))\n(define-states I S (and (= x 0) (= y 0)))\n"
    return pieces(size, head, piece, "(define-transition-system M S I t0)\n(query M (>= x 0))\n")


def rules(size):
    """Transitions in gander's own language."""
    piece = lambda k: f"step s{k} when x > {k} and y < {7 * k + 3} {{ x := x + {k % 9}; y := y - {k % 5} }}\n"
    return pieces(size, "spec Many\nvar x, y: int\nstart { x == 0 and y == 0 }\n", piece, "always p: x >= 0\n")


def equations(size):
    """A Lustre node of many equations."""
    names, body, length = [], [], 0
    while length < size:
        k = len(names)
        names.append(f"v{k}")
        body.append(f"  v{k} = 0 -> if pre v{k} > {k % 90} then pre v{k // 2} - {k % 7} else pre v{k} + x;\n")
        length += len(body[-1]) + len(names[-1]) + 2
    return ("node main(x: int) returns (y: int);\nvar " + ", ".join(names) + ": int;\nlet\n" + "".join(body)
            + "  y = v0;\n  --%PROPERTY y >= 0;\ntel\n")


# Large files of a size that is asked for, by the way they are called and the ending of their names.
TEXTS = [(".sts", rules, "sts"), ("Lustre", equations, "lus"), ("script", script, "script"), ("SMV", smv, "smv"), ("MCMT", mcmt, "mcmt")]

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
