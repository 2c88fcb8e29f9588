// The data of the run view: rows of evidence, and the graph with the way of a run.
import assert from "node:assert/strict";
import { test } from "node:test";

import { type ControlGraph, layOut, onlyGraph, pathOf } from "../../shared/run-view/graph";
import { actionOf, endingOf, loopRow, runOfEvidence, runOfSimulation, shownRows } from "../../shared/run-view/run";

const values = (x: string) => ({ x, on: "true" });

function evidence(steps: unknown[], more: object = {}): unknown {
  return {
    schema: "gander-evidence/1",
    evidence: { kind: "run", start: "start", first: { node: "A", values: values("0") }, steps, ...more },
  };
}

const up = (x: string) => ({ transition: "up", params: { n: "1" }, next: values(x) });

test("a run is a row for each state, with what changed", () => {
  const run = runOfEvidence(evidence([up("1"), up("1")]))!;
  assert.deepEqual(run.variables, ["x", "on"]);
  assert.deepEqual(run.rows.map((row) => [row.step, row.transition, row.values[0]]), [
    [0, "start", "0"], [1, "up", "1"], [2, "up", "1"],
  ]);
  assert.deepEqual(run.rows.map((row) => row.changed), [[], [0], []]);
  assert.equal(actionOf(run.rows[1]!), "up(n = 1)");
  assert.equal(endingOf(run), "2");
});

test("a repetition is shown once, and counted", () => {
  const inner = { repeat: 3, body: [up("8"), { transition: "down", next: values("9") }] };
  const run = runOfEvidence(evidence([up("1"), { repeat: 10, body: [inner, up("0")] }, up("1")]))!;
  assert.equal(run.length, 1 + 10 * 7 + 1);
  assert.deepEqual(run.rows.map((row) => row.step), [0, 1, 69, 70, 71, 72]);
  assert.deepEqual(run.repetitions.map((r) => [r.firstRow, r.rows, r.times]), [[2, 3, 10], [2, 2, 3]]);
});

test("values that the evidence leaves to the effect are unknown, not made up", () => {
  const run = runOfEvidence(evidence([{ transition: "up" }, up("0")]))!;
  assert.deepEqual(run.rows[1]!.values, [null, null]);
  assert.deepEqual(run.rows[1]!.changed, []);
  assert.deepEqual(run.rows[2]!.changed, [0, 1]);
});

test("a lasso leads back to a row", () => {
  const run = runOfEvidence(evidence([up("1"), up("0")], { kind: "lasso", back_to: 1 }))!;
  assert.equal(run.backTo, 1);
  assert.equal(loopRow(run), 1);
  assert.equal(endingOf(run), "2, and from step 1 on for ever");
});

test("runs inside other evidence are found, and proofs have none", () => {
  const run = (evidence([up("1")]) as { evidence: object }).evidence;
  assert.equal(runOfEvidence({ evidence: { kind: "impossible", run } })!.rows.length, 2);
  for (const none of [null, undefined, 3, "run", {}, { evidence: { kind: "invariant", formulas: {} } }, { evidence: { kind: "run" } }]) {
    assert.equal(runOfEvidence(none), null);
  }
});

test("hostile nesting ends", () => {
  let body: unknown[] = [up("1")];
  for (let i = 0; i < 5000; i++) body = [{ repeat: 1, body }];
  assert.ok(runOfEvidence(evidence(body)));
});

test("of a long run the first and last columns are shown", () => {
  assert.deepEqual(shownRows(3, 10), { rows: [0, 1, 2], leftOut: 0 });
  assert.deepEqual(shownRows(100, 5), { rows: [0, 1, 2, 98, 99], leftOut: 95 });
});

const graph: ControlGraph = {
  name: "S",
  nodes: [{ name: "A", final: false }, { name: "B", final: false }, { name: "C", final: true }],
  starts: [{ name: "start", target: 0 }],
  edges: [
    { source: 0, target: 0, label: "up(n: int)", guard: [], effect: [], transitions: ["up"] },
    { source: 0, target: 1, label: "go", guard: [], effect: [], transitions: ["go"] },
    { source: 1, target: 0, label: "back", guard: [], effect: [], transitions: ["back"] },
    { source: 1, target: 2, label: "end", guard: [], effect: [], transitions: ["B.end"] },
  ],
};

test("the path of a run through the graph has its nodes and edges", () => {
  const step = (transition: string) => ({ transition, next: values("0") });
  const run = runOfEvidence(evidence([step("up"), step("go"), step("B.end")]))!;
  assert.deepEqual(pathOf(run, graph), [
    { node: 0, edge: null }, { node: 0, edge: 0 }, { node: 1, edge: 1 }, { node: 2, edge: 3 },
  ]);
  const strange = runOfEvidence(evidence([step("nothing")]))!;
  assert.deepEqual(pathOf(strange, graph)[1], { node: null, edge: null });
});

test("nodes of a layout do not overlap", () => {
  const chain: ControlGraph = {
    name: "S",
    nodes: Array.from({ length: 12 }, (_, i) => ({ name: `node_number_${i}`, final: i === 11 })),
    starts: [{ name: "start", target: 0 }],
    edges: Array.from({ length: 24 }, (_, i) => ({
      source: i % 12, target: (i * 5) % 11, label: `e${i}`, guard: [], effect: [], transitions: [`e${i}`],
    })),
  };
  for (const drawn of [graph, chain, { ...graph, edges: [], starts: [] }]) {
    const { nodes, edges, width, height } = layOut(drawn);
    nodes.forEach((a, i) =>
      nodes.slice(i + 1).forEach((b) => {
        const apart = a.x + a.width < b.x || b.x + b.width < a.x || a.y + a.height < b.y || b.y + b.height < a.y;
        assert.ok(apart, JSON.stringify([a, b]));
      }),
    );
    assert.ok(nodes.every((box) => box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height));
    assert.ok(edges.every((edge) => !edge.path.includes("NaN")));
  }
});

test("a simulation is a run whose nodes are known", () => {
  const run = runOfSimulation([
    { action: "start", node: "A", values: { x: "0" } },
    { action: "go(n = 1)", node: "B", values: { x: "1" } },
  ])!;
  assert.deepEqual(run.rows.map((row) => [actionOf(row), row.changed.length]), [["start", 0], ["go(n = 1)", 1]]);
  assert.deepEqual(pathOf(run, graph), [{ node: 0, edge: null }, { node: 1, edge: 1 }]);
  assert.equal(runOfSimulation([]), null);
});

test("only one graph is drawn", () => {
  assert.equal(onlyGraph({ schema: "gander-graph/1", graphs: [graph] }), graph);
  for (const none of [null, {}, { schema: "gander-graph/2", graphs: [graph] }, { schema: "gander-graph/1", graphs: [] }]) {
    assert.equal(onlyGraph(none), null);
  }
});
