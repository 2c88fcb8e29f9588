// Verdicts and claims in words.

import type { Result, Word } from "./protocol";

export const SIGN: Record<Word | "open", string> = {
  holds: "✓",
  fails: "✗",
  unknown: "?",
  vacuous: "∅",
  open: "·",
};

export const WORD: Record<Word | "open", string> = {
  holds: "holds",
  fails: "fails",
  unknown: "unknown",
  vacuous: "vacuous",
  open: "not decided yet",
};

export const STRUCTURAL = new Set([
  "can-enable",
  "no-sinkhole",
  "start-satisfiable",
  "completable",
  "no-deadlock",
  "infinite-run",
]);

/** The words before the claim in a list. */
export const KIND: Record<string, string> = {
  always: "always",
  reachable: "reachable",
  chain: "reachable in order",
  "can-enable": "can be enabled",
  "no-sinkhole": "can be left",
  "start-satisfiable": "can begin",
  completable: "can be completed",
  "no-deadlock": "never stuck",
  "infinite-run": "goes on for ever",
  eventually: "eventually",
  "always-eventually": "again and again",
  "leads-to": "leads to",
  "always-possible": "always possible",
  "exists-always": "some run always",
};

export function steps(count: string | number): string {
  return `${count} ${String(count) === "1" ? "step" : "steps"}`;
}

export function seconds(value: number): string {
  if (value < 0.0095) return "< 0.01 s";
  return value < 10 ? `${value.toFixed(2)} s` : `${value.toFixed(0)} s`;
}

/** What the evidence is. */
export function evidence(result: Result): string {
  if (result.length !== null && result.length !== undefined) {
    const kind = result.evidence?.evidence?.kind === "lasso" ? "a run that repeats" : "a run";
    const least = result.shortest ? ", and no shorter one exists" : "";
    return `${kind} of ${steps(result.length)}${least}`;
  }
  const kind = result.evidence?.evidence?.kind;
  const words: Record<string, string> = {
    invariant: "an inductive invariant",
    "k-inductive": "a k-inductive invariant",
    diameter: "all runs without a repeated state were explored",
    "closed-set": "all reachable states were explored",
    refutation: "a formula that has no solution",
    chain: "a proof about a chain of goals",
    outside: "a proof about the states that matter",
    possible: "a proof that the goal stays within reach",
    "no-such-run": "a proof that there is no such run",
    "contract-tree": "proofs of the contracts of all nodes",
  };
  if (kind) return words[kind] ?? `a proof (${kind})`;
  return result.verdict === "holds" ? "a proof" : "";
}

/** What the verdict rests on. */
export function restsOn(result: Result): string {
  const rests = result.rests_on;
  if (!rests) return "";
  const names = rests.solvers.join(" and ");
  switch (rests.ground) {
    case "checked":
      return "checked by gander itself";
    case "two-solvers":
      return `${names} agree`;
    case "one-solver":
      return `${names} alone${rests.why_one ? `: ${rests.why_one}` : ""}`;
    default:
      return rests.ground;
  }
}
