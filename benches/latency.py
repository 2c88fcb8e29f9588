#!/usr/bin/env python3
"""How fast `gander lsp` answers: the time from a key to its diagnostics, of hover and completion,
and of a check after an edit that touches one equation, compared with the first check.

usage: python3 benches/latency.py [--gander PATH] [--repeats N]

The models are a Lustre file of 2 000 lines and an `.sts` file of 1 000 transitions. Prints medians
and maxima in milliseconds, and for checks also the processor time of the server and its solvers,
which other work on the machine does not change much. docs/benchmarks.md has the last figures.
"""
import argparse, json, os, statistics, subprocess, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def lustre():
    """2 000 lines: 160 nodes of which each calls the one before, and a property for each."""
    lines, count = [], 160
    for i in range(count):
        lines += [
            f"-- Stage {i}: counts up to its limit and begins again.",
            f"node stage{i}(reset: bool; step: bool) returns (n: int; full: bool);",
            "var previous: int;",
            "let",
            "  previous = 0 -> pre n;",
            "  n = if reset then 0",
            f"      else if previous >= {i + 3} then 0",
            "      else if step then previous + 1",
            "      else previous;",
            f"  full = n = {i + 3};",
            "tel",
            "",
        ]
    lines += ["node main(reset: bool; step: bool) returns (ok: bool);", "var"]
    lines += [f"  n{i}: int; f{i}: bool;" for i in range(count // 4)]
    lines += ["let"]
    for i in range(count // 4):
        carry = "step" if i == 0 else f"f{i - 1}"
        lines += [f"  (n{i}, f{i}) = stage{i}(reset, {carry});"]
    lines += [f'  check "small {i}" n{i} >= 0 and n{i} <= {i + 3};' for i in range(count // 4)]
    lines += ["  ok = n0 >= 0;", "tel", ""]
    return "\n".join(lines), "n3: int", '  n = if reset then 0', "      else if previous >= 12 then 0", "      else if previous >= @ then 0", 11, -1


def sts():
    """1 000 transitions between 100 nodes."""
    nodes, per = 100, 10
    lines = ["spec Ring", "var x: int", "var y: int", "var laps: int", "start -> N0 { x == 0, y == 0, laps == 0 }"]
    for n in range(nodes):
        lines.append(f"node N{n} {{")
        for t in range(per - 1):
            lines.append(f"  t{t} when x < {t + 5} and y >= {t} {{ x := x + 1, y := y + {t + 1} }}")
        lines.append(f"  go -> N{(n + 1) % nodes} when x >= 0 {{ x := 0, laps := laps + {1 if n == 0 else 0} }}")
        lines.append("}")
    lines += ["always low: x >= 0", "always high: x <= 13", "always y_low: y >= 0", "always laps_low: laps >= 0", ""]
    return "\n".join(lines), "laps: int", "  t3 when x < 8", "  t4 when x < 9 and y >= 4 { x := x + 1, y := y + 5 }", "  t4 when x < 9 and y >= 4 { x := x + 1, y := y + @ }", 6, 1


class Client:
    def __init__(self, gander):
        self.process = subprocess.Popen([gander, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.next, self.arrived, self.messages = 0, threading.Condition(), []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            length = 0
            while (line := self.process.stdout.readline().strip()):
                name, value = line.split(b":", 1)
                length = int(value) if name.lower() == b"content-length" else length
            if not length:
                return
            message = json.loads(self.process.stdout.read(length))
            with self.arrived:
                self.messages.append((time.perf_counter(), message))
                self.arrived.notify_all()

    def send(self, message):
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()
        return time.perf_counter()

    def notify(self, method, params):
        return self.send({"method": method, "params": params})

    def wait(self, matches, timeout=600):
        """The time and content of the next message that matches; earlier ones are dropped."""
        end = time.perf_counter() + timeout
        with self.arrived:
            while True:
                while self.messages:
                    at, message = self.messages.pop(0)
                    if matches(message):
                        return at, message
                if not self.arrived.wait(end - time.perf_counter()):
                    raise TimeoutError("the server did not answer")

    def request(self, method, params):
        """The time that the answer took, and the answer."""
        self.next += 1
        number = self.next
        begun = self.send({"id": number, "method": method, "params": params})
        at, message = self.wait(lambda m: m.get("id") == number and "method" not in m)
        if "error" in message:
            raise RuntimeError(message["error"])
        return at - begun, message["result"]


def processor_seconds(pid):
    """Of a process and its descendants, those that have ended included."""
    parents, times = {}, {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = open(f"/proc/{entry}/stat").read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents[int(entry)], times[int(entry)] = int(fields[1]), sum(map(int, fields[11:15]))
    total, found = 0, [pid]
    while found:
        at = found.pop()
        total += times.get(at, 0)
        found += [child for child, parent in parents.items() if parent == at]
    return total / os.sysconf("SC_CLK_TCK")


def position(text, what, nth=0):
    at = -1
    for _ in range(nth + 1):
        at = text.index(what, at + 1)
    before = text[:at]
    return {"line": before.count("\n"), "character": at - (before.rfind("\n") + 1)}


def shown(name, seconds, limit):
    times = sorted(1000 * s for s in seconds)
    late = "" if statistics.median(times) <= limit else f"  over {limit:g} ms"
    print(f"  {name:<24} median {statistics.median(times):8.1f} ms  largest {times[-1]:8.1f} ms{late}", flush=True)


def measure(gander, name, model, repeats):
    text, symbol, anchor, old_line, new_line, value, step = model
    uri = f"file:///{name}"
    print(f"{name}: {text.count(chr(10))} lines, {len(text)} bytes")
    client = Client(gander)
    client.request("initialize", {"capabilities": {}, "initializationOptions": {"check": "manual", "timeLimitSeconds": 300}})
    client.notify("initialized", {})
    version = 1
    begun = client.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "x", "version": 1, "text": text}})
    def published(m):
        return m.get("method") == "textDocument/publishDiagnostics" and m["params"].get("version") == version
    at, _ = client.wait(published)
    shown("open", [at - begun], 1e9)

    def check():
        work = processor_seconds(client.process.pid)
        begun = client.send({"id": 10**6 + version, "method": "workspace/executeCommand",
                             "params": {"command": "gander.check", "arguments": [uri, None]}})
        at, message = client.wait(lambda m: m.get("method") == "gander/check" and m["params"]["state"] == "ended")
        return at - begun, processor_seconds(client.process.pid) - work

    first, work = check()
    print(f"  first check {first:.2f} s ({work:.2f} s of processor time)")
    keys, hovers, completions = [], [], []
    place = position(text, anchor)
    place = {"line": place["line"], "character": place["character"] + 3}
    for i in range(repeats):
        for new, end in (("x", place), ("", {**place, "character": place["character"] + 1})):
            version += 1
            change = {"range": {"start": place, "end": end}, "text": new}
            begun = client.notify("textDocument/didChange", {
                "textDocument": {"uri": uri, "version": version}, "contentChanges": [change]})
            at, _ = client.wait(published)
            keys.append(at - begun)
        spot = {"textDocument": {"uri": uri}, "position": position(text, symbol)}
        hovers.append(client.request("textDocument/hover", spot)[0])
        completions.append(client.request("textDocument/completion", spot)[0])
    shown("diagnostics after a key", keys, 50)
    shown("hover", hovers, 20)
    shown("completion", completions, 20)
    assert old_line in text
    # Each edit is of the same equation, and another one than before.
    edited = lambda i: new_line.replace("@", str(value + step * i))
    again, works = [], []
    for i in range(5):
        version += 1
        client.notify("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text.replace(old_line, edited(i), 1)}]})
        client.wait(published)
        seconds, processor = check()
        again.append(seconds)
        works.append(processor)
    median = statistics.median(again)
    late = "" if median <= first / 10 else "  over 1/10"
    print(f"  check after an edit of one equation: first {again[0]:.2f} s, median {median:.2f} s"
          f" ({statistics.median(works):.2f} s of processor time), {median / first:.2f} of the first{late}")
    client.request("shutdown", None)
    client.notify("exit", None)
    client.process.wait(10)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--gander", default=os.path.join(ROOT, "target", "release", "gander"))
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    measure(options.gander, "stages.lus", lustre(), options.repeats)
    measure(options.gander, "ring.sts", sts(), options.repeats)


if __name__ == "__main__":
    main()
