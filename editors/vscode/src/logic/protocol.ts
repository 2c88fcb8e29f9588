// What `gander lsp` and the extension say to each other beyond the Language Server Protocol. The
// objects are those of docs/json.md, section "Answers of the service".

export type Verdict = "holds" | "fails" | "unknown" | "vacuous";

/** A result of `gander check --json`; only the fields that the extension reads. */
export interface Result {
  claim: string;
  kind: string;
  verdict: Verdict;
  engine: string | null;
  seconds: number;
  length: number | null;
  shortest: boolean | null;
  explored_through: number | null;
  why: { engine: string; reason: string }[] | null;
  within?: string;
  rests_on: { ground: string; solvers: string[]; why_one: string | null } | null;
  abstracted?: string[];
  /** Only in the answer of `gander.result`: it may be large. */
  evidence: unknown;
}

/** Lines and columns count from one, columns in characters; `start` and `end` are bytes. */
export interface Range {
  start: number;
  end: number;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
}

/** A result that is known of a claim. */
export interface Known {
  result: Result;
  system: string;
  of_version: number;
  is_current: boolean;
  range: Range | null;
  steps: { range: Range | null; text: string }[];
}

/** A claim of a document. */
export interface Claim {
  claim: string;
  kind: string;
  text: string;
  system: string;
  range: Range | null;
  known: Known | null;
}

/** What is known of a document. */
export interface DocumentState {
  uri: string;
  version: number;
  is_parsed: boolean;
  diagnostics: { severity: string }[];
  /** Empty while the text is not parsed, or has errors. */
  claims: Claim[];
}

/** A range of the Language Server Protocol: lines and columns from zero. */
export interface LspRange {
  start: { line: number; character: number };
  end: { line: number; character: number };
}

/** Whether a claim rests on a part of the model: `no-found-core` is in no minimal core that was found. */
export interface Covered {
  range: LspRange;
  covered: "covered" | "uncovered" | "no-found-core" | "unknown";
}

interface About {
  uri: string;
  version: number;
  check: number;
}

/** The notification `gander/check`. */
export type CheckEvent = About &
  (
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

/** The notification `gander/verdict`. */
export interface VerdictEvent extends About {
  result: Result;
  system: string;
  of_version: number;
  is_current: boolean;
  range: LspRange | null;
  steps: { range: LspRange | null; text: string }[];
}

/** The notification `gander/explained`; the text is Markdown. */
export interface ExplainedEvent extends About {
  claim: string;
  text: string;
  elements: { name: string; kind: string; range: LspRange | null }[];
}
