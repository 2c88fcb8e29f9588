// The session with the language server: the standard features for the editor, and the requests of
// gander. One place knows their names.

import {
  LSPClient,
  LSPPlugin,
  findReferencesKeymap,
  formatKeymap,
  hoverTooltips,
  jumpToDefinitionKeymap,
  renameKeymap,
  serverCompletion,
  signatureHelp,
} from "@codemirror/lsp-client";
import type { Transport } from "@codemirror/lsp-client";
import { setDiagnostics } from "@codemirror/lint";
import type { Diagnostic } from "@codemirror/lint";
import type { Extension } from "@codemirror/state";
import { keymap } from "@codemirror/view";
import type { EditorView } from "@codemirror/view";

import { h, harmless } from "./dom";
import type {
  CheckEvent,
  Coverage,
  DocumentState,
  Explanation,
  Graph,
  LspRange,
  Move,
  Result,
  Simulation,
  Start,
  Timeline,
  VerdictEvent,
} from "./protocol";

type Position = LspRange["start"];

/** The model that a request of a panel is about. */
export interface ModelText {
  name: string;
  text: string;
}

interface LspDiagnostic {
  range: LspRange;
  severity?: number;
  code?: string | number;
  message: string;
  source?: string;
  relatedInformation?: { location: { uri: string; range: LspRange }; message: string }[];
}
interface TextEdit {
  range: LspRange;
  newText: string;
}
interface CodeAction {
  title: string;
  isPreferred?: boolean;
  edit?: {
    changes?: Record<string, TextEdit[]>;
    documentChanges?: { textDocument: { uri: string }; edits: TextEdit[] }[];
  };
}

export interface ServerListener {
  checked(event: CheckEvent): void;
  verdict(event: VerdictEvent): void;
  /** A file that the document includes was changed. */
  outdated(uri: string): void;
  progress(text: string): void;
  /** The messages about the latest text have come: it was read. */
  published(): void;
  /** The file was saved by another page. */
  saved(digest: string, text: string): void;
  diagnostics(errors: number, warnings: number): void;
  message(text: string, isError: boolean): void;
}

/** The code of messages about verdicts. */
const VERDICT = "verdict";

const SEVERITY = ["error", "error", "warning", "info", "hint"] as const;

export class Server {
  private client: LSPClient;
  private isConnected = false;
  private shown: { uri: string; items: LspDiagnostic[] } = { uri: "", items: [] };

  constructor(
    private readonly listener: ServerListener,
    private readonly view: () => EditorView,
  ) {
    this.client = new LSPClient({
      timeout: 30_000,
      sanitizeHTML: harmless,
      initializationOptions: { check: "manual", lenses: false, inlays: false },
      extensions: [
        serverCompletion(),
        hoverTooltips(),
        signatureHelp(),
        keymap.of([...formatKeymap, ...renameKeymap, ...jumpToDefinitionKeymap, ...findReferencesKeymap]),
        {
          clientCapabilities: {
            window: { workDoneProgress: true },
            textDocument: {
              publishDiagnostics: { relatedInformation: true, versionSupport: true },
              codeAction: {
                codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } },
              },
            },
          },
        },
      ],
      notificationHandlers: {
        "textDocument/publishDiagnostics": (_client, params) => {
          this.publish(params as { uri: string; version?: number; diagnostics: LspDiagnostic[] });
          return true;
        },
        "gander/check": (_client, params) => {
          listener.checked(params as CheckEvent);
          return true;
        },
        "gander/verdict": (_client, params) => {
          listener.verdict(params as VerdictEvent);
          return true;
        },
        "gander/outdated": (_client, params) => {
          listener.outdated((params as { uri: string }).uri);
          return true;
        },
        "$/progress": (_client, params) => {
          const { value } = params as { value: { kind: string; message?: string } };
          if (value.kind === "report" && value.message) listener.progress(value.message);
          return true;
        },
        "page/saved": (_client, params) => {
          const { digest, text } = params as { digest: string; text: string };
          listener.saved(digest, text);
          return true;
        },
        "window/showMessage": (_client, params) => {
          const { type, message } = params as { type: number; message: string };
          listener.message(message, type === 1);
          return true;
        },
        "window/logMessage": () => true,
      },
      unhandledNotification: () => {},
    });
  }

  async connect(transport: Transport): Promise<void> {
    if (this.isConnected) this.client.disconnect();
    this.isConnected = true;
    this.client.connect(transport);
    await this.client.initializing;
  }

  disconnect(): void {
    if (!this.isConnected) return;
    this.isConnected = false;
    this.client.disconnect();
  }

  /** The features for a document in the editor; opens it at the server. */
  features(uri: string, language: string): Extension {
    return this.client.plugin(uri, language);
  }

  /** Sends what was typed. */
  sync(): void {
    if (this.isConnected) this.client.sync();
  }

  private async ask<T>(method: string, params: unknown): Promise<T> {
    if (!this.isConnected) throw new Error("gander is not connected");
    this.client.sync();
    try {
      return await this.client.request<unknown, T>(method, params);
    } catch (problem) {
      throw problem instanceof Error ? problem : new Error(messageOf(problem));
    }
  }

  start(): Promise<Start> {
    return this.ask("page/start", {});
  }

  save(text: string, digest: string | null, force: boolean): Promise<{ saved: boolean; digest: string | null }> {
    return this.ask("page/save", { text, digest, force });
  }

  private command<T>(command: string, ...args: unknown[]): Promise<T> {
    return this.ask("workspace/executeCommand", { command, arguments: args });
  }

  /** Puts a check of a claim, or of all, into the queue. */
  check(uri: string, claim: string | null): Promise<{ check: number }> {
    return claim === null ? this.command("gander.check", uri) : this.command("gander.check", uri, claim);
  }

  /** The same, and explains the verdicts. */
  explain(uri: string, claim: string | null): Promise<{ check: number }> {
    return claim === null ? this.command("gander.explain", uri) : this.command("gander.explain", uri, claim);
  }

  /** The newest result of a claim with its evidence, which may be large. */
  result(uri: string, claim: string): Promise<Result | null> {
    return this.command("gander.result", uri, claim);
  }

  explanation(uri: string, claim: string): Promise<Explanation> {
    return this.command("gander.explanation", uri, claim);
  }

  coverage(uri: string): Promise<Coverage> {
    return this.command("gander.coverage", uri);
  }

  cancel(uri: string): Promise<unknown> {
    return this.command("gander.cancel", uri);
  }

  state(uri: string): Promise<DocumentState | null> {
    return this.command("gander.state", uri);
  }

  graph(model: ModelText, system: string | null): Promise<Graph> {
    return this.ask("page/graph", { ...model, system });
  }

  run(model: ModelText, system: string, evidence: unknown): Promise<Timeline> {
    return this.ask("page/run", { ...model, system, evidence });
  }

  simulate(model: ModelText, system: string | null, moves: Move[], random: number | null): Promise<Simulation> {
    return this.ask("page/simulate", { ...model, system, moves, random });
  }

  exported(model: ModelText, format: string): Promise<{ text: string; notes: string[] }> {
    return this.ask("page/export", { ...model, format });
  }

  async format(uri: string): Promise<TextEdit[] | null> {
    return this.ask("textDocument/formatting", {
      textDocument: { uri },
      options: { tabSize: 2, insertSpaces: true },
    });
  }

  /** Applies edits of the server to the editor. */
  apply(edits: TextEdit[]): void {
    const view = this.view();
    const plugin = LSPPlugin.get(view);
    if (!plugin || edits.length === 0) return;
    const changes = edits.map((edit) => ({
      from: plugin.fromPosition(edit.range.start),
      to: plugin.fromPosition(edit.range.end),
      insert: edit.newText,
    }));
    view.dispatch({ changes, userEvent: "input.fix" });
  }

  private publish(params: { uri: string; version?: number; diagnostics: LspDiagnostic[] }): void {
    const view = this.view();
    const plugin = LSPPlugin.get(view);
    if (!plugin || plugin.uri !== params.uri) return;
    const file = this.client.workspace.getFile(params.uri);
    if (file && params.version !== undefined && params.version !== null && params.version !== file.version) return;
    this.shown = { uri: params.uri, items: params.diagnostics };
    const own = params.diagnostics.filter((item) => item.code !== VERDICT);
    this.listener.diagnostics(
      own.filter((item) => (item.severity ?? 1) === 1).length,
      own.filter((item) => item.severity === 2).length,
    );
    // Positions are about the text that was sent; what was typed since moves them.
    const place = (position: Position) => {
      const at = plugin.fromPosition(position, plugin.syncedDoc);
      return plugin.unsyncedChanges.mapPos(at);
    };
    const diagnostics = params.diagnostics.map((item): Diagnostic => {
      let [from, to] = [place(item.range.start), place(item.range.end)];
      if (to <= from) {
        const line = view.state.doc.lineAt(from);
        if (from < line.to) to = from + 1;
        else from = Math.max(line.from, from - 1);
      }
      return {
        from,
        to: Math.max(from, to),
        // A claim that fails is no mistake of the text.
        severity: item.code === VERDICT ? "info" : (SEVERITY[item.severity ?? 1] ?? "error"),
        message: item.message,
        renderMessage: () => this.messageElement(params.uri, item),
      };
    });
    view.dispatch(setDiagnostics(view.state, diagnostics));
    this.listener.published();
  }

  /** A message with its code, related places and quick fixes. */
  private messageElement(uri: string, item: LspDiagnostic): HTMLElement {
    const fixes = h("div", { class: "fixes" });
    const related = (item.relatedInformation ?? []).slice(0, 12).map((info) => {
      const { line } = info.location.range.start;
      return h("li", {}, `line ${line + 1}: ${info.message}`);
    });
    const code = item.code === undefined ? "" : String(item.code);
    const element = h(
      "div",
      { class: "diagnostic" },
      h("p", {}, item.message),
      related.length > 0 && h("ul", {}, ...related),
      fixes,
      code && h("code", {}, code),
    );
    void this.actions(uri, item).then((actions) => {
      for (const action of actions) {
        const run = () => this.apply(editsOf(action, uri));
        fixes.append(h("button", { type: "button", class: "fix", onclick: run }, action.title));
      }
    });
    return element;
  }

  private async actions(uri: string, item: LspDiagnostic): Promise<CodeAction[]> {
    try {
      const actions = await this.ask<CodeAction[] | null>("textDocument/codeAction", {
        textDocument: { uri },
        range: item.range,
        context: { diagnostics: [item], only: ["quickfix"] },
      });
      return (actions ?? []).filter((action) => editsOf(action, uri).length > 0).slice(0, 6);
    } catch {
      return [];
    }
  }

  /** The fixes of the first message at the cursor, as a list of titles and actions. */
  async fixesAt(uri: string): Promise<{ title: string; run: () => void }[]> {
    const view = this.view();
    const plugin = LSPPlugin.get(view);
    if (!plugin || this.shown.uri !== uri) return [];
    const head = view.state.selection.main.head;
    const line = view.state.doc.lineAt(head).number - 1;
    const here = this.shown.items.filter((d) => d.range.start.line <= line && line <= d.range.end.line);
    const found = [];
    for (const item of here) {
      for (const action of await this.actions(uri, item)) {
        found.push({ title: action.title, run: () => this.apply(editsOf(action, uri)) });
      }
    }
    return found;
  }
}

function editsOf(action: CodeAction, uri: string): TextEdit[] {
  const changes = action.edit?.changes?.[uri];
  if (changes) return changes;
  const documents = action.edit?.documentChanges ?? [];
  return documents.filter((d) => d.textDocument.uri === uri).flatMap((d) => d.edits);
}

export function messageOf(problem: unknown): string {
  if (problem && typeof problem === "object" && "message" in problem) return String(problem.message);
  return String(problem);
}
