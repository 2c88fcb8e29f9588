// Words, icons and places: what the views show of the results. Pure functions.
import type { Known, Range, Result } from "./protocol";
import type { DocumentVerdicts, ShownClaim } from "./verdicts";

/** Kinds of claims that every control graph gets without being asked. */
const STRUCTURAL = new Set(["can-enable", "no-sinkhole", "start-satisfiable", "completable"]);

/** An icon of VS Code (a "codicon") and the colour of the theme for it. */
export interface Icon {
  id: string;
  color: string | null;
}

export function iconOf(claim: ShownClaim): Icon {
  switch (claim.verdict) {
    case "holds":
      return { id: "pass", color: "testing.iconPassed" };
    case "fails":
      return { id: "error", color: "testing.iconFailed" };
    case "unknown":
      return { id: "question", color: "testing.iconQueued" };
    case "vacuous":
      return { id: "warning", color: "testing.iconErrored" };
    case null:
      return claim.known ? { id: "history", color: "disabledForeground" } : { id: "circle-outline", color: null };
  }
}

/** The kind of evidence, in words (docs/evidence.md). */
export function evidenceWords(result: Result): string {
  const kind = (result.evidence as { evidence?: { kind?: string } } | null)?.evidence?.kind;
  const steps = result.length === 1 ? "1 step" : `${result.length} steps`;
  switch (kind) {
    case undefined:
      if (result.verdict !== "holds" && result.verdict !== "fails") return "";
      // Only the evidence itself says more.
      return result.length === null ? "proof" : result.shortest ? `a shortest run of ${steps}` : `a run of ${steps}`;
    case "run":
      return result.shortest ? `a shortest run of ${steps}` : `a run of ${steps}`;
    case "lasso":
      return `an infinite run (${steps})`;
    case "invariant":
      return "inductive invariant";
    case "k-inductive":
      return "k-inductive invariant";
    case "closed-set":
      return "all reachable states";
    case "contract-tree":
      return "proof node by node";
    default:
      return kind.replaceAll("-", " ");
  }
}

/** On what the verdict rests, in words; null where no solver is trusted. */
export function groundWords(result: Result): string | null {
  const { ground, solvers } = result.rests_on ?? { ground: "checked", solvers: [] };
  if (ground === "two-solvers") return `rests on ${solvers.join(" and ")}, which agree`;
  if (ground === "one-solver") return `rests on ${solvers.join(" and ") || "one solver"} alone`;
  return null;
}

/** The verdict in a few words, never more than what is known. */
export function verdictWords(claim: ShownClaim): string {
  const result = claim.known?.result;
  if (!result) return "not checked";
  if (claim.verdict === null) return `was: ${result.verdict}, for an older text`;
  if (result.verdict === "unknown") {
    return result.explored_through === null
      ? "unknown"
      : `unknown; nothing within ${result.explored_through} steps`;
  }
  if (result.verdict === "vacuous") return "vacuous: the system has no run";
  const within = result.within === undefined ? "" : `, up to ${result.within} steps`;
  return [`${result.verdict}${within}`, evidenceWords(result)].filter((w) => w !== "").join(": ");
}

/** A line of the tree of verdicts. */
export interface TreeLine {
  id: string;
  label: string;
  description: string;
  tooltip: string;
  icon: Icon | null;
  /** Decides which commands its menu has. */
  context: "document" | "group" | "claim" | "claim-with-run" | "detail";
  uri: string;
  claim: string | null;
  expanded: boolean;
  children: TreeLine[];
}

/** The tree of verdicts: documents, claims, and what is known of each claim. */
export function treeOf(documents: DocumentVerdicts[], nameOf: (uri: string) => string): TreeLine[] {
  return documents.map((document) => {
    const written = document.claims.filter((claim) => !STRUCTURAL.has(claim.kind));
    const structural = document.claims.filter((claim) => STRUCTURAL.has(claim.kind));
    const children = written.map((claim) => claimLine(document.uri, claim));
    if (structural.length > 0) children.push(structuralGroup(document.uri, structural));
    return {
      id: document.uri,
      label: nameOf(document.uri),
      description: countsOf(document.claims),
      tooltip: document.trouble ?? document.uri,
      icon: null,
      context: "document" as const,
      uri: document.uri,
      claim: null,
      expanded: true,
      children,
    };
  });
}

function structuralGroup(uri: string, claims: ShownClaim[]): TreeLine {
  const open = claims.some((claim) => claim.verdict !== "holds" && claim.verdict !== null);
  return {
    id: `${uri}#structure`,
    label: "control graph",
    description: countsOf(claims),
    tooltip: "Claims of every control graph: transitions can be taken, nodes can be left",
    icon: null,
    context: "group",
    uri,
    claim: null,
    expanded: open,
    children: claims.map((claim) => claimLine(uri, claim)),
  };
}

function claimLine(uri: string, claim: ShownClaim): TreeLine {
  const id = `${uri}#${claim.system}#${claim.name}`;
  const line = (label: string, description: string, at: number): TreeLine => ({
    id: `${id}#${at}`,
    label,
    description,
    tooltip: description,
    icon: null,
    context: "detail",
    uri,
    claim: claim.name,
    expanded: false,
    children: [],
  });
  const details = detailsOf(claim).map(([label, text], at) => line(label, text, at));
  return {
    id,
    label: claim.name,
    description: verdictWords(claim),
    tooltip: claim.text === "" ? claim.name : claim.text,
    icon: iconOf(claim),
    context: hasRun(claim.known) ? "claim-with-run" : "claim",
    uri,
    claim: claim.name,
    expanded: false,
    children: details,
  };
}

function detailsOf(claim: ShownClaim): [string, string][] {
  const result = claim.known?.result;
  if (!result) return [];
  const lines: [string, string][] = [];
  const from = result.engine === "cache" ? "from the cache, checked again" : result.engine;
  if (from) lines.push(["engine", `${from}, ${result.seconds.toFixed(2)} s`]);
  const evidence = evidenceWords(result);
  if (evidence !== "") lines.push(["evidence", evidence]);
  const ground = groundWords(result);
  if (ground) lines.push(["trust", ground]);
  for (const node of result.abstracted ?? []) lines.push(["abstracts", node]);
  for (const { engine, reason } of result.why ?? []) lines.push([engine, reason]);
  return lines;
}

/** True if the evidence of a result is a run. */
export function hasRun(known: Known | null): boolean {
  return known !== null && known.result.length !== null;
}

/** `2 hold, 1 fails, 3 not checked`. */
export function countsOf(claims: ShownClaim[]): string {
  const count = (verdict: string | null) => claims.filter((claim) => claim.verdict === verdict).length;
  const parts: [number, string, string][] = [
    [count("fails"), "fails", "fail"],
    [count("holds"), "holds", "hold"],
    [count("unknown"), "unknown", "unknown"],
    [count("vacuous"), "vacuous", "vacuous"],
    [count(null), "not checked", "not checked"],
  ];
  return parts
    .filter(([n]) => n > 0)
    .map(([n, one, many]) => `${n} ${n === 1 ? one : many}`)
    .join(", ");
}

/** The text and the icon of the status bar for a document. */
export function statusOf(document: DocumentVerdicts | undefined): { text: string; tooltip: string } {
  if (!document) return { text: "$(beaker) gander", tooltip: "No model is open" };
  const { running, claims, trouble } = document;
  if (running) {
    const done = running.all > 0 ? ` ${running.settled}/${running.all}` : "";
    return { text: `$(loading~spin) gander${done}`, tooltip: "Click to cancel the check" };
  }
  const worst = (["fails", "vacuous", "unknown"] as const).find((v) => claims.some((c) => c.verdict === v));
  const checked = claims.length > 0 && claims.every((claim) => claim.verdict === "holds");
  const icon = worst === "fails" ? "error" : worst ? "question" : checked ? "pass" : "beaker";
  const counts = countsOf(claims);
  return {
    text: `$(${icon}) gander${counts === "" ? "" : `: ${counts}`}`,
    tooltip: trouble ?? "Click to check",
  };
}

/** A mark in the margin. */
export interface Mark {
  line: number;
  kind: "holds" | "fails" | "unknown" | "vacuous";
  hover: string;
}

const SEVERITY = ["holds", "unknown", "vacuous", "fails"] as const;

/** Marks for the claims with a verdict about this text; one a line, the most serious. */
export function marksOf(document: DocumentVerdicts): Mark[] {
  const byLine = new Map<number, Mark>();
  for (const claim of document.claims) {
    if (claim.verdict === null || !claim.range) continue;
    const line = claim.range.line - 1;
    const hover = `${claim.name} ${verdictWords(claim)}`;
    const old = byLine.get(line);
    const worse =
      !old || SEVERITY.indexOf(claim.verdict) > SEVERITY.indexOf(old.kind) ? claim.verdict : old.kind;
    byLine.set(line, { line, kind: worse, hover: old ? `${old.hover}\n\n${hover}` : hover });
  }
  return [...byLine.values()].sort((a, b) => a.line - b.line);
}

/** A range of the server with lines and columns from zero. */
export function places(range: Range): { from: [number, number]; to: [number, number] } {
  return {
    from: [range.line - 1, range.column - 1],
    to: [range.end_line - 1, range.end_column - 1],
  };
}

/** The claim whose text is at a line (from zero): the innermost one. */
export function claimAt(document: DocumentVerdicts, line: number): ShownClaim | undefined {
  const there = document.claims.filter(
    ({ range }) => range && range.line - 1 <= line && line <= range.end_line - 1,
  );
  const length = (claim: ShownClaim) => claim.range!.end_line - claim.range!.line;
  return there.sort((a, b) => length(a) - length(b))[0];
}
