// The extension: starts `gander lsp`, and connects its events to the views. What the views show is
// decided in src/logic, which knows nothing of VS Code; src/adapters draws it.
import * as vscode from "vscode";

import type { ControlGraph } from "../../shared/run-view/graph";
import { Decorations, position } from "./adapters/decorations";
import { runOfEvidence, showRun, showSimulator } from "./adapters/panels";
import { LANGUAGES, type Listener, Server, program } from "./adapters/server";
import { VerdictTree } from "./adapters/tree";
import { claimAt, hasRun, places, statusOf, type TreeLine } from "./logic/present";
import type { CheckEvent, Covered, ExplainedEvent, VerdictEvent } from "./logic/protocol";
import { VerdictStore } from "./logic/verdicts";

/** Milliseconds to wait for further events before the views are drawn again. */
const DRAW_DELAY = 50;

class Extension implements vscode.Disposable, Listener {
  private readonly store = new VerdictStore();
  private readonly tree = new VerdictTree(this.store);
  private readonly status = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 10);
  private readonly decorations: Decorations;
  private readonly coverage = new Map<string, Covered[]>();
  private readonly explanations = vscode.window.createOutputChannel("gander explanation", "markdown");
  private server: Server | null = null;
  private drawing: NodeJS.Timeout | null = null;

  constructor(private readonly context: vscode.ExtensionContext) {
    this.decorations = new Decorations(context.extensionUri);
    const { subscriptions } = context;
    subscriptions.push(this, this.status, this.decorations, this.explanations);
    subscriptions.push(vscode.window.createTreeView("gander.verdicts", { treeDataProvider: this.tree }));
    this.register();
    subscriptions.push(
      vscode.window.onDidChangeActiveTextEditor(() => this.draw()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.edited(document)),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("gander.path")) void this.restart();
        else if (change.affectsConfiguration("gander")) void this.server?.configure();
      }),
    );
    this.draw();
  }

  async restart(): Promise<void> {
    await this.stop();
    const located = program();
    if ("problem" in located) {
      const choice = await vscode.window.showErrorMessage(located.problem, "Open Settings");
      if (choice) await vscode.commands.executeCommand("workbench.action.openSettings", "gander.path");
      return;
    }
    try {
      this.server = await Server.start(located.path, this);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      await vscode.window.showErrorMessage(`${located.path} lsp could not be started: ${why}`);
      return;
    }
    for (const document of vscode.workspace.textDocuments) {
      if (LANGUAGES.includes(document.languageId)) await this.refresh(document.uri.toString());
    }
    this.draw();
  }

  async stop(): Promise<void> {
    const server = this.server;
    this.server = null;
    this.store.forget();
    this.coverage.clear();
    await server?.stop().catch(() => undefined);
  }

  dispose(): void {
    if (this.drawing) clearTimeout(this.drawing);
    void this.stop();
  }

  private register(): void {
    const command = (name: string, act: (line?: TreeLine) => unknown) =>
      this.context.subscriptions.push(
        vscode.commands.registerCommand(`gander.${name}`, (given?: TreeLine) =>
          // A command that fails at once is caught, too.
          Promise.resolve()
            .then(() => act(given))
            .catch(showProblem),
        ),
      );
    command("checkAll", () => this.withDocument((uri) => this.running().check(uri, null)));
    command("checkClaim", (line) =>
      this.withClaim(line, (uri, claim) => this.running().check(uri, claim)),
    );
    command("explainClaim", (line) =>
      this.withClaim(line, (uri, claim) => this.running().explain(uri, claim)),
    );
    command("cancelCheck", () => this.withDocument((uri) => this.running().cancel(uri)));
    command("showRun", (line) => this.withClaim(line, (uri, claim) => this.showRunOf(uri, claim)));
    command("simulateHere", (line) => this.simulateAt(line));
    command("toggleCoverage", () => this.withDocument((uri) => this.toggleCoverage(uri)));
    command("restartServer", () => this.restart());
    command("reveal", (line) => this.reveal(line));
    command("statusClicked", () =>
      this.withDocument((uri) =>
        this.store.get(uri)?.running ? this.running().cancel(uri) : this.running().check(uri, null),
      ),
    );
  }

  private running(): Server {
    if (!this.server) throw new Error("the server is not running");
    return this.server;
  }

  private withDocument(act: (uri: string) => unknown): unknown {
    const document = vscode.window.activeTextEditor?.document;
    if (!document || !LANGUAGES.includes(document.languageId)) {
      throw new Error("open a model first (.sts, Lustre or a script)");
    }
    return act(document.uri.toString());
  }

  /** Acts on the claim of a line of the tree, or on the one at the cursor. */
  private withClaim(line: TreeLine | undefined, act: (uri: string, claim: string) => unknown): unknown {
    if (line?.claim) return act(line.uri, line.claim);
    return this.withDocument((uri) => {
      const document = this.store.get(uri);
      const at = vscode.window.activeTextEditor!.selection.active.line;
      const claim = document && claimAt(document, at);
      if (!claim) throw new Error("there is no claim at the cursor");
      return act(uri, claim.name);
    });
  }

  check(event: CheckEvent): void {
    if (this.store.check(event).refresh) void this.refresh(event.uri);
    this.drawSoon();
  }

  verdict(event: VerdictEvent): void {
    this.store.verdict(event);
    this.drawSoon();
  }

  /** A file that a document includes was changed. */
  outdated(uri: string): void {
    this.coverage.delete(uri);
    void this.refresh(uri);
  }

  explained(event: ExplainedEvent): void {
    // Other text in the panel of an earlier explanation would be taken for this one's.
    this.explanations.clear();
    this.explanations.appendLine(event.text);
    this.explanations.show(true);
    if (this.coverage.has(event.uri)) void this.refreshCoverage(event.uri);
  }

  simulate(uri: string, claim: string | null): void {
    void this.openSimulator(uri, claim).catch(showProblem);
  }

  private async refresh(uri: string): Promise<void> {
    const state = await this.server?.state(uri).catch(() => null);
    if (state) this.store.setState(state);
    this.drawSoon();
  }

  private edited(document: vscode.TextDocument): void {
    const uri = document.uri.toString();
    if (!this.store.edited(uri, document.version)) return;
    // Coverage is about an older text.
    this.coverage.delete(uri);
    this.drawSoon();
  }

  private drawSoon(): void {
    this.drawing ??= setTimeout(() => {
      this.drawing = null;
      this.draw();
    }, DRAW_DELAY);
  }

  private draw(): void {
    this.tree.refresh();
    for (const editor of vscode.window.visibleTextEditors) {
      const uri = editor.document.uri.toString();
      this.decorations.drawMarks(editor, this.store.get(uri));
      this.decorations.drawShades(editor, this.coverage.get(uri) ?? []);
    }
    const active = vscode.window.activeTextEditor?.document;
    if (!active || !LANGUAGES.includes(active.languageId)) return this.status.hide();
    const { text, tooltip } = statusOf(this.store.get(active.uri.toString()));
    this.status.text = text;
    this.status.tooltip = tooltip;
    this.status.command = "gander.statusClicked";
    this.status.show();
  }

  private async showRunOf(uri: string, name: string): Promise<void> {
    const known = this.store.get(uri)?.claims.find((claim) => claim.name === name)?.known;
    const result = await this.running().result(uri, name);
    const run = runOfEvidence(result?.evidence);
    if (!known || !run) throw new Error(`no run is known for ${name}: its evidence is not a run`);
    const graph = await this.graphOf(uri);
    const outdated = known.is_current ? "" : " (of an older text)";
    showRun(this.context.extensionUri, {
      title: `${name} ${result!.verdict}${outdated}`,
      run,
      graph,
      onSelect: (row) => void this.revealStep(uri, name, row),
      onSimulate: () => this.simulate(uri, name),
    });
  }

  /** Shows the transition that a step takes. */
  private async revealStep(uri: string, name: string, row: number): Promise<void> {
    const known = this.store.get(uri)?.claims.find((claim) => claim.name === name)?.known;
    const range = known?.is_current ? known.steps[row - 1]?.range : null;
    if (range) await this.revealRange(uri, places(range));
  }

  private async graphOf(uri: string): Promise<ControlGraph | null> {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
    return this.running().graph(document);
  }

  /** Simulates from the end of the run of a line of the tree or the claim at the cursor. */
  private async simulateAt(line: TreeLine | undefined): Promise<void> {
    if (line?.claim) return this.openSimulator(line.uri, line.claim);
    await this.withDocument((uri) => {
      const document = this.store.get(uri);
      const claim = document && claimAt(document, vscode.window.activeTextEditor!.selection.active.line);
      return this.openSimulator(uri, claim && hasRun(claim.known) ? claim.name : null);
    });
  }

  private async openSimulator(uri: string, claim: string | null): Promise<void> {
    showSimulator(this.context.extensionUri, this.running(), uri, await this.graphOf(uri), claim);
  }

  private async toggleCoverage(uri: string): Promise<void> {
    if (this.coverage.delete(uri)) return this.draw();
    await this.refreshCoverage(uri);
    if (this.coverage.get(uri)!.length === 0) {
      // Coverage is what explanations say.
      await this.running().explain(uri, null);
    }
  }

  private async refreshCoverage(uri: string): Promise<void> {
    this.coverage.set(uri, await this.running().coverage(uri));
    this.draw();
  }

  private async reveal(line: TreeLine | undefined): Promise<void> {
    if (!line?.claim) return;
    const claim = this.store.get(line.uri)?.claims.find(({ name }) => name === line.claim);
    if (claim?.range) await this.revealRange(line.uri, places(claim.range));
  }

  private async revealRange(
    uri: string,
    { from, to }: { from: [number, number]; to: [number, number] },
  ): Promise<void> {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
    const range = new vscode.Range(position(document, from), position(document, to));
    const shown = vscode.window.visibleTextEditors.find((editor) => editor.document === document);
    const column = shown?.viewColumn ?? vscode.ViewColumn.One;
    const editor = await vscode.window.showTextDocument(document, { viewColumn: column, preserveFocus: true });
    editor.selection = new vscode.Selection(range.start, range.start);
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
}

function showProblem(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  void vscode.window.showErrorMessage(`gander: ${text}`);
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const extension = new Extension(context);
  await extension.restart();
}
