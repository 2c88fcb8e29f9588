// The list of claims with their verdicts, as they come.

import { placeButton } from "./coverage";
import { download, fill, h } from "./dom";
import type { Explained } from "./explanations";
import type { CheckEvent, Claim, DocumentState, Known, Range, Result, VerdictEvent } from "./protocol";
import { KIND, SIGN, STRUCTURAL, WORD, evidence, restsOn, seconds } from "./words";

export interface ClaimActions {
  check(claim: string | null): void;
  stop(): void;
  run(claim: Claim): void;
  explain(claim: Claim): void;
  reveal(range: Range): void;
  closed(): void;
  /** The details of a claim are shown: its evidence is needed. */
  opened(claim: Claim): void;
  changed(claims: Claim[]): void;
}

type Stage =
  | { kind: "idle" }
  | { kind: "running"; settled: number; open: number; text: string }
  | { kind: "ended"; text: string; isBad: boolean };

export class ClaimsPanel {
  readonly element = h("div", { class: "claims" });
  private readonly summary = h("div", { class: "summary", role: "status", "aria-live": "polite" });
  private readonly list = h("div", { class: "list" });
  private state: DocumentState | null = null;
  private stage: Stage = { kind: "idle" };
  private openClaim: string | null = null;
  private explanations = new Map<string, Explained>();
  private errors = 0;

  constructor(private readonly actions: ClaimActions) {
    fill(this.element, this.summary, this.list);
    this.draw();
  }

  get claims(): Claim[] {
    return this.state?.claims ?? [];
  }

  get isRunning(): boolean {
    return this.stage.kind === "running";
  }

  /** Another document. */
  clear(): void {
    this.state = null;
    this.stage = { kind: "idle" };
    this.explanations.clear();
    this.openClaim = null;
    this.draw();
  }

  setErrors(errors: number): void {
    if (errors === this.errors) return;
    this.errors = errors;
    this.draw();
  }

  setState(state: DocumentState): void {
    this.state = state;
    this.draw();
    this.actions.changed(this.claims);
  }

  /** What an edit makes of verdicts until the server says more. */
  setOutdated(): void {
    let changed = false;
    for (const claim of this.claims) {
      if (claim.known?.is_current) {
        claim.known.is_current = false;
        changed = true;
      }
    }
    if (this.stage.kind === "ended") this.stage = { kind: "idle" };
    if (changed) {
      this.explanations.clear();
      this.draw();
      this.actions.changed(this.claims);
    }
  }

  setExplanation(claim: string, explained: Explained): void {
    this.explanations.set(claim, explained);
    this.openClaim = claim;
    this.draw();
  }

  /** The result of a claim with its evidence. */
  setResult(claim: Claim, result: Result): void {
    if (!claim.known?.is_current || !this.claims.includes(claim)) return;
    claim.known.result = result;
    this.draw();
  }

  checked(event: CheckEvent): void {
    if (event.state === "started") this.stage = { kind: "running", settled: 0, open: 0, text: "" };
    else if (event.state === "ended") this.stage = ended(event);
    else if (this.stage.kind === "running") this.stage.open += event.claims.length;
    this.draw();
  }

  /** What the check is trying. */
  progress(text: string): void {
    if (this.stage.kind !== "running") return;
    this.stage.text = text;
    this.drawSummary();
  }

  verdict(event: VerdictEvent): void {
    const { claim, kind } = event.result;
    let found = this.claims.find((c) => c.claim === claim && c.system === event.system);
    found ??= this.claims.find((c) => c.claim === claim);
    const known: Known = { ...event, is_current: true, range: null, steps: [] };
    if (found) found.known = known;
    else this.state?.claims.push({ claim, kind, text: "", system: event.system, range: null, known });
    if (this.stage.kind === "running") this.stage.settled += 1;
    this.draw();
    this.actions.changed(this.claims);
  }

  private draw(): void {
    this.drawSummary();
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.focus : undefined;
    const systems = new Set(this.claims.map((c) => c.system));
    const written = this.claims.filter((c) => !isStructural(c));
    const structural = this.claims.filter(isStructural);
    const bad = structural.filter((c) => c.known?.is_current && c.known.result.verdict !== "holds");
    const quiet = structural.filter((c) => !bad.includes(c));
    const items = (claims: Claim[]) => claims.map((c) => this.item(c, systems.size > 1));
    const quietOpen = this.list.querySelector<HTMLDetailsElement>("details.quiet")?.open ?? false;
    const decided = quiet.filter((c) => c.known?.is_current && c.known.result.verdict === "holds").length;
    fill(
      this.list,
      this.claims.length === 0 ? this.empty() : null,
      written.length + bad.length > 0 ? h("ul", {}, ...items(written), ...items(bad)) : null,
      quiet.length > 0
        ? h(
            "details",
            { class: "quiet", open: quietOpen },
            h("summary", {}, `Structural checks: ${decided === quiet.length ? `all ${decided} hold` : `${decided} of ${quiet.length} hold`}`),
            h("ul", {}, ...items(quiet)),
          )
        : null,
    );
    if (focused) this.list.querySelector<HTMLElement>(`[data-focus="${CSS.escape(focused)}"]`)?.focus();
  }

  private empty(): HTMLElement {
    const text = this.errors > 0
      ? "The model has errors: they are underlined in the text."
      : "The model claims nothing yet. A claim says what must be so, for example: always solvent: balance >= 0";
    return h("p", { class: "soft empty" }, text);
  }

  private drawSummary(): void {
    const count = (word: string) => this.claims.filter((c) => c.known?.is_current && c.known.result.verdict === word).length;
    const parts = (["fails", "vacuous", "unknown", "holds"] as const)
      .map((word) => ({ word, n: count(word) }))
      .filter(({ n }) => n > 0)
      .map(({ word, n }) => h("span", { class: `tally ${word}` }, `${SIGN[word]} ${n} ${tally(word, n)}`));
    const open = this.claims.filter((c) => !c.known?.is_current).length;
    const stage = this.stage;
    const running = stage.kind === "running";
    const hadFocus = this.summary.contains(document.activeElement);
    const progress = running
      ? h("progress", stage.settled + stage.open > 0 ? { max: Math.max(stage.open, stage.settled), value: stage.settled, "aria-label": "Claims decided" } : { "aria-label": "Checking" })
      : null;
    fill(
      this.summary,
      ...parts,
      open > 0 && !running ? h("span", { class: "tally soft" }, `${open} not decided`) : null,
      running ? h("span", { class: "tally soft" }, "checking…") : null,
      progress,
      running && stage.text ? h("span", { class: "soft what" }, stage.text) : null,
      running ? h("button", { type: "button", class: "small", onclick: () => this.actions.stop() }, "Stop") : null,
      stage.kind === "ended" && stage.text ? h("span", { class: stage.isBad ? "tally fails" : "soft" }, stage.text) : null,
    );
    // The button was replaced, or the check is over: the keyboard stays in the panel.
    if (hadFocus) (this.summary.querySelector("button") ?? this.list.querySelector<HTMLElement>("[data-focus]"))?.focus();
  }

  private item(claim: Claim, withSystem: boolean): HTMLElement {
    const known = claim.known;
    const word = known ? known.result.verdict : "open";
    const isCurrent = known?.is_current ?? true;
    const isOpen = this.openClaim === claim.claim;
    const running = this.isRunning && !(known?.is_current ?? false);
    const sign = running ? h("span", { class: "spinner", role: "img", "aria-label": "being decided" }) : h("span", { class: `sign ${word}`, "aria-hidden": "true" }, SIGN[word]);
    const state = !isCurrent ? `${WORD[word]} before the edit` : running ? "being decided" : WORD[word];
    const kind = KIND[claim.kind] ?? claim.kind;
    const shownName = isStructural(claim) || claim.claim.startsWith(kind) ? claim.claim : `${kind} ${claim.claim}`;
    const head = h(
      "button",
      {
        type: "button",
        class: "head",
        "aria-expanded": String(isOpen),
        "data-focus": claim.claim,
        onclick: () => {
          this.openClaim = isOpen ? null : claim.claim;
          this.draw();
          if (isOpen) this.actions.closed();
          else this.actions.opened(claim);
        },
      },
      sign,
      h("span", { class: "name" }, shownName, withSystem ? h("span", { class: "soft" }, ` in ${claim.system}`) : null),
      h("span", { class: `word ${isCurrent ? word : "soft"}` }, state),
      known && isCurrent ? h("span", { class: "time soft" }, seconds(known.result.seconds)) : null,
    );
    const item = h("li", { class: `claim ${isCurrent ? "" : "outdated"}`, "data-claim": claim.claim, "data-verdict": isCurrent ? word : "outdated" }, head);
    if (isOpen) item.append(this.details(claim, known));
    return item;
  }

  private details(claim: Claim, known: Known | null): HTMLElement {
    const result = known?.result;
    const hasRun = result?.length !== null && result?.length !== undefined;
    const facts: HTMLElement[] = [];
    const fact = (name: string, value: string | null | undefined) => {
      if (value) facts.push(h("dt", {}, name), h("dd", {}, value));
    };
    if (result) {
      fact("Evidence", evidence(result));
      if (result.engine === "cache") fact("Found", "from the cache, checked again");
      else fact("Found by", result.engine);
      fact("Rests on", restsOn(result));
      fact("Within", result.within ? `runs of at most ${result.within} steps` : null);
      const searched = result.explored_through;
      fact("Searched", result.verdict === "unknown" && searched !== null && searched !== undefined ? `no run of at most ${searched} steps decides it` : null);
      for (const why of result.why ?? []) fact(why.engine, why.reason);
      for (const part of result.contradiction ?? []) fact("Contradiction", `line ${part.line}: ${part.text}`);
    }
    const explained = this.explanations.get(claim.claim);
    const isCurrent = known?.is_current ?? false;
    const action = (text: string, run: () => void, isMain = false) =>
      h("button", { type: "button", class: isMain ? "small main" : "small", "data-focus": `${claim.claim}: ${text}`, onclick: run }, text);
    return h(
      "div",
      { class: "details" },
      claim.text && claim.text !== claim.claim ? h("code", { class: "formula" }, claim.text) : null,
      facts.length > 0 ? h("dl", {}, ...facts) : null,
      explained
        ? h("div", { class: "explained" }, ...explained.lines.map((line) => h("p", {}, line)),
            h("ul", { class: "elements" }, ...explained.elements.map((e) => h("li", {}, placeButton(e.name, e.range, (range) => this.actions.reveal(range))))))
        : null,
      h(
        "div",
        { class: "actions" },
        isCurrent && hasRun ? action("Show the run", () => this.actions.run(claim), true) : null,
        isCurrent && result && result.verdict !== "unknown" ? action("Explain why", () => this.actions.explain(claim), !hasRun) : null,
        claim.range ? action("Go to the claim", () => claim.range && this.actions.reveal(claim.range)) : null,
        action("Check only this", () => this.actions.check(claim.claim)),
        isCurrent && result?.evidence
          ? action("Save evidence", () => download(`${claim.claim.replace(/\W+/g, "_")}.evidence.json`, JSON.stringify(result.evidence, null, 2), "application/json"))
          : null,
      ),
    );
  }
}

/** The names of checks that nobody wrote. */
const STRUCTURAL_NAME = /^(can enable|no sinkhole|satisfiable|completable|no deadlock|infinite run|a run exists)\b/;

export function isStructural(claim: Claim): boolean {
  return STRUCTURAL.has(claim.kind) && STRUCTURAL_NAME.test(claim.claim);
}

function tally(word: string, n: number): string {
  const plural: Record<string, string> = { holds: "hold", fails: "fail", unknown: "unknown", vacuous: "vacuous" };
  return n === 1 ? word : plural[word]!;
}

function ended(event: Extract<CheckEvent, { state: "ended" }>): Stage {
  switch (event.ending) {
    case "finished": {
      const time = event.seconds === undefined ? "" : `decided in ${seconds(event.seconds)}`;
      return { kind: "ended", text: event.stopped ?? time, isBad: false };
    }
    case "cancelled":
      return { kind: "ended", text: "stopped", isBad: false };
    case "broke":
      return { kind: "ended", text: `the check failed: ${event.why ?? ""}`, isBad: true };
    case "rejected":
    case "superseded":
      return { kind: "idle" };
  }
}
