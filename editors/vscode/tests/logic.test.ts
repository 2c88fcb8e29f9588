// The logic of the extension: finding the program, the store of verdicts, and what the views show.
import assert from "node:assert/strict";
import { test } from "node:test";

import { utf16Column } from "../src/logic/columns";
import { locate, type Surroundings } from "../src/logic/locate";
import { escape, pageOf } from "../src/logic/page";
import {
  claimAt, countsOf, evidenceWords, groundWords, hasRun, marksOf, places, statusOf, treeOf, type TreeLine, verdictWords,
} from "../src/logic/present";
import type { CheckEvent, DocumentState, Known, LspRange, Range, Result, VerdictEvent } from "../src/logic/protocol";
import { readMessage, requestOf } from "../src/logic/simulation";
import { VerdictStore } from "../src/logic/verdicts";

const URI = "file:///m/bank.sts";

function around(programs: string[], change: Partial<Surroundings> = {}): Surroundings {
  const isProgram = (path: string) => programs.includes(path);
  return { setting: "", path: "/usr/bin:/opt/bin", home: "/home/u", windows: false, isProgram, ...change };
}

test("the program is found on the PATH, first folder first", () => {
  assert.deepEqual(locate(around(["/opt/bin/gander"])), { path: "/opt/bin/gander" });
  assert.deepEqual(locate(around(["/opt/bin/gander", "/usr/bin/gander"])), { path: "/usr/bin/gander" });
});

test("folders of the PATH that are not absolute are not searched", () => {
  const found = locate(around(["gander", "./gander", "bin/gander"], { path: ".:bin::/opt/bin" }));
  assert.ok("problem" in found);
});

test("the setting is an absolute path or a name", () => {
  assert.deepEqual(locate(around(["/x/g"], { setting: "/x/g" })), { path: "/x/g" });
  assert.deepEqual(locate(around(["/home/u/g"], { setting: "~/g" })), { path: "/home/u/g" });
  assert.deepEqual(locate(around(["/opt/bin/g2"], { setting: "g2" })), { path: "/opt/bin/g2" });
  assert.ok("problem" in locate(around(["./g", "g"], { setting: "./g" })));
});

test("a missing program is explained", () => {
  const found = locate(around([]));
  assert.ok("problem" in found && found.problem.includes("gander.path"));
  const set = locate(around([], { setting: "/x/g" }));
  assert.ok("problem" in set && set.problem.includes("/x/g"));
});

function range(line: number, end = line): Range {
  return { start: 0, end: 0, line, column: 1, end_line: end, end_column: 5 };
}

function result(claim: string, verdict: Result["verdict"], change: Partial<Result> = {}): Result {
  return {
    claim, verdict, kind: "always", engine: "bmc", seconds: 0.1, length: null, shortest: null,
    explored_through: null, why: null, rests_on: null, evidence: null, ...change,
  };
}

function known(of: Result, change: Partial<Known> = {}): Known {
  return { result: of, system: "Bank", of_version: 1, is_current: true, range: range(3), steps: [], ...change };
}

/** The notification for a verdict; lines from zero. */
function verdict(of: Result, line: number | null = 2, end = line): VerdictEvent {
  const at: LspRange | null =
    line === null ? null : { start: { line, character: 0 }, end: { line: end!, character: 4 } };
  const about = { uri: URI, version: 1, check: 1 };
  return { ...about, result: of, system: "Bank", of_version: 1, is_current: true, range: at, steps: [] };
}

function state(version = 1, verdict: Result["verdict"] | null = "holds"): DocumentState {
  const found = verdict === null ? null : known(result("solvent", verdict), { of_version: version });
  const claim = { claim: "solvent", kind: "always", text: "always solvent: b >= 0", system: "Bank" };
  return { uri: URI, version, is_parsed: true, diagnostics: [], claims: [{ ...claim, range: range(3), known: found }] };
}

test("a verdict about an older text is never shown as one about the text", () => {
  const store = new VerdictStore();
  store.setState(state());
  assert.equal(store.get(URI)!.claims[0]!.verdict, "holds");
  assert.ok(store.edited(URI, 2));
  const [claim] = store.get(URI)!.claims;
  assert.equal(claim!.verdict, null);
  assert.equal(verdictWords(claim!), "was: holds, for an older text");
  assert.deepEqual(marksOf(store.get(URI)!), []);
  // A late event about version 1 does not bring it back.
  store.verdict(verdict(result("solvent", "holds")));
  assert.equal(store.get(URI)!.claims[0]!.verdict, null);
  // Neither does an account of version 1.
  store.setState(state(1));
  assert.equal(store.get(URI)!.claims[0]!.verdict, null);
  store.setState(state(2, "fails"));
  assert.equal(store.get(URI)!.claims[0]!.verdict, "fails");
});

test("claims of the last good text stay, as outdated, while the text is wrong", () => {
  const store = new VerdictStore();
  store.setState(state());
  const wrong = { uri: URI, version: 2, is_parsed: true, diagnostics: [{ severity: "error" }], claims: [] };
  store.setState(wrong);
  assert.deepEqual(store.get(URI)!.claims.map(verdictWords), ["was: holds, for an older text"]);
  store.setState({ ...wrong, version: 3, is_parsed: false, diagnostics: [] });
  assert.equal(store.get(URI)!.claims.length, 1);
  // A good text without claims has none.
  store.setState({ ...wrong, version: 4, diagnostics: [] });
  assert.equal(store.get(URI)!.claims.length, 0);
});

test("the notifications of a check fill the document", () => {
  const store = new VerdictStore();
  const about = { uri: URI, version: 1, check: 1 };
  const check = (event: CheckEvent) => store.check(event).refresh;
  assert.equal(check({ ...about, state: "started" }), false);
  const claims = ["p", "q", "r"].map((claim) => ({ claim, kind: "always" }));
  check({ ...about, state: "deciding", system: "Bank", claims });
  store.verdict(verdict(result("p", "fails")));
  assert.match(statusOf(store.get(URI)).text, /1\/3/);
  assert.equal(store.get(URI)!.claims[0]!.range!.line, 3);
  assert.equal(check({ ...about, state: "ended", ending: "finished", seconds: 4 }), true);
  assert.match(statusOf(store.get(URI)).text, /error.*1 fails/);
  // The end of an older check does not end the running one.
  check({ ...about, state: "started", check: 8 });
  check({ ...about, state: "ended", check: 7, ending: "superseded" });
  assert.ok(store.get(URI)!.running);
  store.forget(URI);
  assert.equal(store.get(URI), undefined);
});

test("the ending of a check is described", () => {
  const store = new VerdictStore();
  const about = { uri: URI, version: 1, check: 1 };
  store.check({ ...about, state: "ended", ending: "broke", why: "out of memory" });
  assert.match(store.get(URI)!.trouble!, /out of memory/);
  store.check({ ...about, state: "started" });
  assert.equal(store.get(URI)!.trouble, null);
  store.check({ ...about, state: "ended", ending: "finished", stopped: "the time is over" });
  assert.match(store.get(URI)!.trouble!, /the time is over/);
});

test("words never say more than the verdict", () => {
  const words = (of: Result) => {
    const store = new VerdictStore();
    store.verdict(verdict(of));
    return verdictWords(store.get(URI)!.claims[0]!);
  };
  assert.equal(words(result("p", "unknown")), "unknown");
  assert.equal(words(result("p", "unknown", { explored_through: 12 })), "unknown; nothing within 12 steps");
  assert.equal(words(result("p", "vacuous")), "vacuous: the system has no run");
  assert.equal(words(result("p", "holds", { within: "8" })), "holds, up to 8 steps: proof");
  const lasso = { evidence: { kind: "lasso" } };
  assert.equal(words(result("p", "fails", { length: 3, evidence: lasso })), "fails: an infinite run (3 steps)");
  const run = { evidence: { kind: "run" } };
  assert.equal(evidenceWords(result("p", "fails", { length: 1, shortest: true, evidence: run })), "a shortest run of 1 step");
  assert.equal(evidenceWords(result("p", "fails", { length: 2, shortest: false, evidence: run })), "a run of 2 steps");
});

test("a verdict that rests on one solver says so", () => {
  const rests = (ground: string, solvers: string[]) =>
    groundWords(result("p", "holds", { rests_on: { ground, solvers, why_one: null } }));
  assert.equal(rests("one-solver", ["z3"]), "rests on z3 alone");
  assert.equal(rests("two-solvers", ["yices", "z3"]), "rests on yices and z3, which agree");
  assert.equal(rests("checked", []), null);
});

test("the tree has claims with what is known of them, and structural ones in a group", () => {
  const store = new VerdictStore();
  const of = result("p", "unknown", { engine: null, why: [{ engine: "pdr", reason: "no time" }] });
  store.verdict(verdict(of));
  const structural = result("can enable pay", "holds", { kind: "can-enable" });
  store.verdict(verdict(structural));
  const [document] = treeOf(store.all(), () => "bank.sts");
  assert.equal(document!.label, "bank.sts");
  assert.deepEqual(document!.children.map((line) => line.label), ["p", "control graph"]);
  const [claim, group] = document!.children;
  assert.equal(claim!.icon!.id, "question");
  assert.deepEqual(claim!.children.map((line) => [line.label, line.description]), [["pdr", "no time"]]);
  assert.equal(group!.children[0]!.icon!.id, "pass");
  assert.equal(group!.expanded, false);
  const ids = new Set<string>();
  const walk = (lines: TreeLine[]) => {
    for (const line of lines) {
      assert.ok(!ids.has(line.id), line.id);
      ids.add(line.id);
      walk(line.children);
    }
  };
  walk([document!]);
});

test("a claim with a run can be shown, one with a proof cannot", () => {
  assert.ok(hasRun(known(result("p", "fails", { length: 0 }))));
  assert.ok(!hasRun(known(result("p", "holds"))) && !hasRun(known(result("p", "unknown"))) && !hasRun(null));
});

test("a proof and a run are distinguished without the evidence itself", () => {
  assert.equal(evidenceWords(result("p", "holds")), "proof");
  assert.equal(evidenceWords(result("p", "fails", { length: 3, shortest: true })), "a shortest run of 3 steps");
  assert.equal(evidenceWords(result("p", "unknown")), "");
});

test("a line with several claims has the mark of the worst", () => {
  const store = new VerdictStore();
  store.verdict(verdict(result("a", "holds"), 3));
  store.verdict(verdict(result("b", "fails"), 3));
  store.verdict(verdict(result("c", "holds"), 1, 8));
  const marks = marksOf(store.get(URI)!);
  assert.deepEqual(marks.map((mark) => [mark.line, mark.kind]), [[1, "holds"], [3, "fails"]]);
  assert.match(marks[1]!.hover, /a holds[^]*b fails/);
  assert.equal(claimAt(store.get(URI)!, 3)!.name, "a");
  assert.equal(claimAt(store.get(URI)!, 6)!.name, "c");
  assert.equal(claimAt(store.get(URI)!, 20), undefined);
  assert.equal(countsOf(store.get(URI)!.claims), "1 fails, 2 hold");
});

test("places count from zero, and columns in UTF-16 units", () => {
  assert.deepEqual(places(range(2)), { from: [1, 0], to: [1, 4] });
  assert.equal(utf16Column("a💥b", 2), 3);
  assert.equal(utf16Column("ab", 9), 2);
});

test("pages run one script and contain no text of a model as markup", () => {
  const page = pageOf({
    title: `</title><script>alert(1)</script>"'`, script: "x.js", nonce: "n0", source: "vscode:",
    style: "", body: "<h1></h1>",
  });
  assert.ok(!page.includes("<script>alert"));
  assert.match(page, /default-src &#39;none&#39;/);
  assert.equal(page.match(/<script/g)!.length, 1);
  assert.equal(escape(`<a b="c">&'`), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;");
});

test("messages of a panel are read strictly", () => {
  assert.deepEqual(readMessage({ kind: "random", more: 1 }), { kind: "random" });
  assert.deepEqual(readMessage({ kind: "take", transition: "up" }), { kind: "take", transition: "up" });
  for (const wrong of [null, 1, {}, { kind: "x" }, { kind: "take" }, { kind: "take", transition: 1 }]) {
    assert.equal(readMessage(wrong), null, JSON.stringify(wrong));
  }
});

test("messages of a panel become requests", () => {
  assert.deepEqual(requestOf({ kind: "ready" }, null, "p"), { claim: "p" });
  assert.deepEqual(requestOf({ kind: "ready" }, null, null), {});
  assert.deepEqual(requestOf({ kind: "back" }, 3, "p"), { simulation: 3, do: "undo" });
  const take = requestOf({ kind: "take", transition: "up" }, 3, null);
  assert.deepEqual(take, { simulation: 3, do: "step", transition: "up" });
});
