// A run as rows, made of the evidence of a result (docs/evidence.md, kinds `run` and `lasso`, and
// the kinds that contain a run). Nothing here touches the page, so it is tested without one.
//
// A repetition is shown once, with the values of its last round, as in the text of `gander check`.

/** A step of evidence, or a part that is repeated. */
export type EvidenceLeg =
  | { transition: string; params?: Record<string, string>; next?: Record<string, string> }
  | { repeat: number; body: EvidenceLeg[] };

/** A run in the form of evidence files. */
export interface EvidenceRun {
  kind: string;
  start: string;
  first: { node: string; values: Record<string, string> };
  steps: EvidenceLeg[];
  back_to?: number;
}

/** A state of a run, and the step that led to it. */
export interface RunRow {
  /** The number of steps taken so far; 0 is the start. */
  step: number;
  /** The transition, or the start. */
  transition: string;
  /** Its parameters. */
  params: [string, string][];
  /** The step in words, if they are given. */
  action?: string;
  /** The node, if it is given; evidence leaves it to the control graph. */
  node?: string;
  /** The value of every variable; null if the evidence leaves it to the effect. */
  values: (string | null)[];
  /** Indices of the variables whose value is not that of the row before. */
  changed: number[];
}

/** Rows that are taken several times in succession. */
export interface Repetition {
  firstRow: number;
  rows: number;
  times: number;
}

/** A run, ready to be shown. */
export interface Run {
  /** The names of the variables. */
  variables: string[];
  /** The node of the first state. */
  firstNode: string;
  rows: RunRow[];
  repetitions: Repetition[];
  /** All steps, each round of a repetition counted. */
  length: number;
  /** The last state equals the state after this many steps, and what follows it repeats. */
  backTo: number | null;
}

/** At most this many rows are made; a run with more ends early, and `isCut` of its view says so. */
const MOST_ROWS = 100_000;
/** Evidence is nested at most 40 deep (docs/evidence.md). */
const DEEPEST = 64;

function isRun(value: unknown): value is EvidenceRun {
  const run = value as Partial<EvidenceRun> | null;
  return (
    typeof run === "object" && run !== null && (run.kind === "run" || run.kind === "lasso") &&
    typeof run.first === "object" && Array.isArray(run.steps)
  );
}

/** The run in the evidence of a result: `result.evidence` of docs/json.md. Null if it has none. */
export function runOfEvidence(evidence: unknown): Run | null {
  const inner = (evidence as { evidence?: unknown } | null)?.evidence ?? evidence;
  if (isRun(inner)) return rowsOf(inner);
  const nested = (inner as { run?: unknown } | null)?.run;
  return isRun(nested) ? rowsOf(nested) : null;
}

function rowsOf(run: EvidenceRun): Run {
  const variables = Object.keys(run.first.values);
  const rows: RunRow[] = [
    {
      step: 0,
      transition: run.start,
      params: [],
      values: variables.map((name) => run.first.values[name] ?? null),
      changed: [],
    },
  ];
  const repetitions: Repetition[] = [];
  let step = 0;
  const walk = (legs: EvidenceLeg[], depth: number) => {
    for (const leg of legs) {
      if (rows.length >= MOST_ROWS || depth > DEEPEST) return;
      if ("repeat" in leg) {
        const firstRow = rows.length;
        // The rounds before the last one are counted, not shown.
        step += (leg.repeat - 1) * lengthOf(leg.body, depth);
        const at = repetitions.push({ firstRow, rows: 0, times: leg.repeat }) - 1;
        walk(leg.body, depth + 1);
        repetitions[at]!.rows = rows.length - firstRow;
      } else {
        step += 1;
        const before = rows[rows.length - 1]!.values;
        const values = variables.map((name) => leg.next?.[name] ?? null);
        const changed = values.flatMap((value, i) => (value !== null && value !== before[i] ? [i] : []));
        rows.push({
          step,
          transition: leg.transition,
          params: Object.entries(leg.params ?? {}),
          values,
          changed,
        });
      }
    }
  };
  walk(run.steps, 0);
  return {
    variables,
    firstNode: run.first.node,
    rows,
    repetitions: repetitions.filter((r) => r.times > 1 && r.rows > 0),
    length: lengthOf(run.steps, 0),
    backTo: run.back_to ?? null,
  };
}

function lengthOf(legs: EvidenceLeg[], depth: number): number {
  if (depth > DEEPEST) return 0;
  return legs.reduce(
    (sum, leg) => sum + ("repeat" in leg ? leg.repeat * lengthOf(leg.body, depth + 1) : 1),
    0,
  );
}

/** A state of a simulation, with the step into it: docs/json.md, "Answers of the service". */
export interface SimulationRow {
  action: string;
  node: string;
  values: Record<string, string>;
}

/** The run of a simulation. */
export function runOfSimulation(rows: SimulationRow[]): Run | null {
  const [first] = rows;
  if (!first) return null;
  const variables = Object.keys(first.values);
  const made = rows.map((row, step): RunRow => {
    const values = variables.map((name) => row.values[name] ?? null);
    const before = rows[step - 1]?.values;
    const changed = variables.flatMap((name, i) => (before && before[name] !== values[i] ? [i] : []));
    const transition = row.action.replace(/\(.*$/s, "");
    return { step, transition, params: [], action: row.action, node: row.node, values, changed };
  });
  return {
    variables,
    firstNode: first.node,
    rows: made,
    repetitions: [],
    length: rows.length - 1,
    backTo: null,
  };
}

/** What a row did, in words: `deposit(amount = 50)`. */
export function actionOf(row: RunRow): string {
  if (row.action !== undefined) return row.action;
  if (row.params.length === 0) return row.transition;
  return `${row.transition}(${row.params.map(([name, value]) => `${name} = ${value}`).join(", ")})`;
}

/** How long a run is, in words. */
export function endingOf(run: Run): string {
  if (run.backTo === null) return String(run.length);
  return `${run.length}, and from step ${run.backTo} on for ever`;
}

/** The row to which the last one leads back; null if the run ends. */
export function loopRow(run: Run): number | null {
  if (run.backTo === null) return null;
  const at = run.rows.findIndex((row) => row.step >= run.backTo!);
  return at < 0 ? null : at;
}

/** Which rows a table of at most `most` columns has: the first and the last ones. */
export function shownRows(count: number, most: number): { rows: number[]; leftOut: number } {
  if (count <= most) return { rows: Array.from({ length: count }, (_, i) => i), leftOut: 0 };
  const first = Math.ceil(most / 2);
  const last = most - first;
  const rows = [
    ...Array.from({ length: first }, (_, i) => i),
    ...Array.from({ length: last }, (_, i) => count - last + i),
  ];
  return { rows, leftOut: count - most };
}
