// What the page and the language server say to each other beside the standard protocol. The objects
// are those of docs/json.md.

/** A place in the text: bytes, and lines and columns from one, columns in characters. */
export interface Range {
  start: number;
  end: number;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
}

export type Word = "holds" | "fails" | "unknown" | "vacuous";

/** A result of `gander check --json`. */
export interface Result {
  claim: string;
  kind: string;
  verdict: Word;
  engine: string | null;
  seconds: number;
  length: string | number | null;
  shortest: boolean | null;
  explored_through: string | number | null;
  why: { engine: string; reason: string }[] | null;
  rests_on: { ground: string; solvers: string[]; why_one?: string | null } | null;
  contradiction?: { text: string; line: number; column: number; end_line: number; end_column: number }[];
  within?: string;
  evidence: { evidence?: { kind?: string } } | null;
}

/** A result, where its claim is, and whether it is about the latest text. */
export interface Known {
  result: Result;
  system: string;
  of_version: number;
  is_current: boolean;
  range: Range | null;
  steps: { range: Range | null; text: string }[];
}

/** A claim of the model with what is known. */
export interface Claim {
  claim: string;
  kind: string;
  text: string;
  system: string;
  range: Range | null;
  known: Known | null;
}

export interface DocumentState {
  uri: string;
  version: number;
  is_parsed: boolean;
  diagnostics: { severity: string }[];
  claims: Claim[];
  report: { diagnostics: { code: string; severity: string; message: string }[] } | null;
}

/** A place as the language server protocol has it. */
export interface LspRange {
  start: { line: number; character: number };
  end: { line: number; character: number };
}

/** How a check goes on. */
export type CheckEvent = { uri: string; version: number; check: number } & (
  | { state: "started" }
  | { state: "deciding"; system: string; claims: { claim: string; kind: string }[] }
  | {
      state: "ended";
      ending: "finished" | "rejected" | "superseded" | "cancelled" | "broke";
      seconds?: number;
      stopped?: string | null;
      why?: string;
    }
);

/** A claim is settled. */
export type VerdictEvent = { uri: string; version: number } & Omit<Known, "range" | "steps">;

/** A run as rows of values. */
export interface Timeline {
  steps: { number: number; action: string; node: string; transition: number | null; range: Range | null }[];
  groups: { title: string; rows: { name: string; shown: boolean; cells: string[] }[] }[];
  /** The position from which the run repeats for ever. */
  back_to: number | null;
  note: string | null;
}

/** The control graph of a system; of a composition, that of each instance. */
export interface Graph {
  system: string;
  graphs: { name: string; svg: string; nodes: string[] }[];
  transitions: { id: number; name: string; source: string; target: string }[];
  note: string | null;
}

/** An action of a simulation: what was chosen, with values for what it leaves open. */
export interface Move {
  action: string;
  values: Record<string, string>;
}

export interface Choice {
  action: string;
  label: string;
  enabled: boolean | null;
  transition: number | null;
  parameters: { name: string; sort: string; suggestion: string | null }[];
}

export interface Simulation {
  timeline: Timeline;
  choices: Choice[];
  /** Claims that are false now. */
  failing: string[];
  /** The moves as they were taken, all values given. */
  moves: Move[];
  problem: string | null;
}

/** What the page was opened with. */
export interface Start {
  version: string;
  file: { name: string; path: string; text?: string; digest?: string; error?: string } | null;
  examples: { name: string; about: string; text: string }[];
}

/** A part of the model that an explanation names. */
export interface ExplainedElement {
  name: string;
  kind: string;
  range: LspRange | null;
}

/** Why a claim has its verdict. */
export interface Explanation {
  claim: string;
  /** In Markdown. */
  text: string;
  elements: ExplainedElement[];
}

/** Parts of the model, and whether a claim rests on them. */
export type Coverage = { range: LspRange; covered: "covered" | "unknown" | "no-found-core" | "uncovered" }[];
