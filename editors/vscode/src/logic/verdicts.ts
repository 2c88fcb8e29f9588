// The results that the extension shows, by document. Pure: events of the server go in, and what
// changed comes out. A verdict about an older text is kept, but marked as outdated, so that no
// view can show it as one about the text on the screen.
import type { CheckEvent, Claim, DocumentState, Known, LspRange, Range, Verdict, VerdictEvent } from "./protocol";

/** A claim as the views show it. */
export interface ShownClaim {
  name: string;
  kind: string;
  text: string;
  system: string;
  /** Where it is written in the text of the editor; null if that is not known. */
  range: Range | null;
  known: Known | null;
  /** The verdict about the text of the editor; null if there is none. */
  verdict: Verdict | null;
}

/** A running check. */
export interface RunningCheck {
  check: number;
  version: number;
  settled: number;
  all: number;
}

/** What is known of one document. */
export interface DocumentVerdicts {
  uri: string;
  /** The version that the claims are of. */
  version: number;
  claims: ShownClaim[];
  running: RunningCheck | null;
  /** Why the last check ended without all verdicts; null if it did not. */
  trouble: string | null;
}

function shown(claim: Claim): ShownClaim {
  const current = claim.known?.is_current === true;
  return {
    name: claim.claim,
    kind: claim.kind,
    text: claim.text,
    system: claim.system,
    range: claim.range,
    known: claim.known,
    verdict: current ? claim.known!.result.verdict : null,
  };
}

/** The results of all open documents. */
export class VerdictStore {
  private readonly documents = new Map<string, DocumentVerdicts>();

  /** All documents with claims or a running check, by address. */
  all(): DocumentVerdicts[] {
    const known = [...this.documents.values()].filter((d) => d.claims.length > 0 || d.running);
    return known.sort((a, b) => (a.uri < b.uri ? -1 : 1));
  }

  get(uri: string): DocumentVerdicts | undefined {
    return this.documents.get(uri);
  }

  /** Replaces what is known of a document by the server's account of it. */
  setState(state: DocumentState): void {
    const document = this.of(state.uri, state.version);
    if (state.version < document.version) return;
    const wrong = !state.is_parsed || state.diagnostics.some(({ severity }) => severity === "error");
    if (state.claims.length === 0 && wrong) {
      // While somebody types, what is known of the last good text is still worth seeing.
      this.edited(state.uri, state.version);
      return;
    }
    document.version = state.version;
    document.claims = state.claims.map(shown);
  }

  /** The text of a document was changed: what is known is about an older text. */
  edited(uri: string, version: number): boolean {
    const document = this.documents.get(uri);
    if (!document || version <= document.version) return false;
    document.version = version;
    for (const claim of document.claims) {
      claim.verdict = null;
      if (claim.known) claim.known = { ...claim.known, is_current: false };
    }
    return true;
  }

  /** Removes a document; without an address all of them. */
  forget(uri?: string): void {
    if (uri === undefined) this.documents.clear();
    else this.documents.delete(uri);
  }

  /** Takes news about a check. The answer says whether the server's account must be asked for. */
  check(event: CheckEvent): { refresh: boolean } {
    const document = this.of(event.uri, event.version);
    switch (event.state) {
      case "started":
        document.running = { check: event.check, version: event.version, settled: 0, all: 0 };
        document.trouble = null;
        return { refresh: false };
      case "deciding":
        if (document.running?.check === event.check) document.running.all += event.claims.length;
        for (const { claim, kind } of event.claims) this.claim(document, claim, kind, event.system);
        return { refresh: false };
      case "ended":
        if (document.running?.check === event.check) document.running = null;
        document.trouble = troubleOf(event);
        return { refresh: true };
    }
  }

  /** Takes a verdict. */
  verdict(event: VerdictEvent): void {
    const document = this.of(event.uri, event.version);
    if (document.running?.check === event.check) document.running.settled += 1;
    const claim = this.claim(document, event.result.claim, event.result.kind, event.system);
    const current = event.version === document.version && event.is_current;
    const known: Known = {
      result: event.result,
      system: event.system,
      of_version: event.of_version,
      is_current: current,
      range: event.range && fromLsp(event.range),
      steps: event.steps.map(({ range, text }) => ({ range: range && fromLsp(range), text })),
    };
    claim.known = known;
    claim.verdict = current ? known.result.verdict : null;
    if (current && known.range) claim.range = known.range;
  }

  private of(uri: string, version: number): DocumentVerdicts {
    let document = this.documents.get(uri);
    if (!document) {
      document = { uri, version, claims: [], running: null, trouble: null };
      this.documents.set(uri, document);
    }
    return document;
  }

  private claim(document: DocumentVerdicts, name: string, kind: string, system: string): ShownClaim {
    let found = document.claims.find((claim) => claim.name === name);
    if (!found) {
      found = { name, kind, text: "", system, range: null, known: null, verdict: null };
      document.claims.push(found);
    }
    return found;
  }
}

/**
 * A range of the protocol in the form of the service. Columns count other units where a line has
 * characters outside of the basic plane; the account of the server replaces it when a check ends.
 */
function fromLsp({ start, end }: LspRange): Range {
  return {
    start: 0,
    end: 0,
    line: start.line + 1,
    column: start.character + 1,
    end_line: end.line + 1,
    end_column: end.character + 1,
  };
}

function troubleOf(event: Extract<CheckEvent, { state: "ended" }>): string | null {
  switch (event.ending) {
    case "finished":
      return event.stopped ? `The check ended early: ${event.stopped}` : null;
    case "cancelled":
      return "The check was cancelled.";
    case "rejected":
      return "The model has errors; nothing was checked.";
    case "broke":
      return `The check ended by an internal error: ${event.why ?? "unknown"}`;
    case "superseded":
      return null;
  }
}
