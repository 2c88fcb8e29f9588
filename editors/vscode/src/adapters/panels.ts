// The panels: the run view and the simulator. Their pages are in src/webview.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

import type { ControlGraph } from "../../../shared/run-view/graph";
import { type Run, runOfEvidence } from "../../../shared/run-view/run";
import { RUN_VIEW_STYLE } from "../../../shared/run-view/style";
import { pageOf } from "../logic/page";
import { type FromPanel, readMessage, requestOf, type SimulationState } from "../logic/simulation";
import type { Server } from "./server";

const RUN_BODY = `<h1></h1><div id="run"></div>`;
const SIMULATOR_BODY = `<h1>Simulator</h1>
<div class="run-bar"><button id="back" class="run-button">step back</button>
<button id="random" class="run-button">random step</button>
<button id="restart" class="run-button">restart</button></div>
<p id="problem" role="alert"></p><div id="choices"></div><p id="violated"></p><div id="run"></div>`;
const STYLE = `${RUN_VIEW_STYLE}
body { padding: 8px 14px; } h1 { font-size: 1.1em; }
.choice { display: flex; gap: 8px; align-items: center; margin: 4px 0; }
.why { opacity: 0.8; } #problem, #violated { color: var(--vscode-errorForeground); }
`;

/** A panel beside the editor with one of our pages. */
function open(extension: vscode.Uri, kind: "run" | "simulator", title: string): vscode.WebviewPanel {
  const scripts = vscode.Uri.joinPath(extension, "dist", "webview");
  const panel = vscode.window.createWebviewPanel(
    `gander.${kind}`,
    title,
    { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false },
    { enableScripts: true, localResourceRoots: [scripts], retainContextWhenHidden: true },
  );
  panel.webview.html = pageOf({
    title,
    script: panel.webview.asWebviewUri(vscode.Uri.joinPath(scripts, `${kind}.js`)).toString(),
    nonce: randomBytes(16).toString("base64url"),
    source: panel.webview.cspSource,
    style: STYLE,
    body: kind === "run" ? RUN_BODY : SIMULATOR_BODY,
  });
  return panel;
}

export interface RunShown {
  title: string;
  run: Run;
  graph: ControlGraph | null;
  /** Called with the number of a row that is chosen. */
  onSelect(row: number): void;
  /** Opens the simulator. */
  onSimulate(): void;
}

/** Shows a run in a panel. */
export function showRun(extension: vscode.Uri, shown: RunShown): void {
  const panel = open(extension, "run", shown.title);
  panel.webview.onDidReceiveMessage((message: { kind?: string; row?: unknown }) => {
    const { title, run, graph } = shown;
    if (message.kind === "ready") void panel.webview.postMessage({ kind: "run", title, run, graph });
    const row = typeof message.row === "number" ? message.row : null;
    if (message.kind === "select" && row !== null) shown.onSelect(row);
    if (message.kind === "simulate") shown.onSimulate();
  });
}

/** Opens the simulator for a document, at the end of the run of a claim if one is named. */
export function showSimulator(
  extension: vscode.Uri,
  server: Server,
  uri: string,
  graph: ControlGraph | null,
  claim: string | null,
): void {
  const panel = open(extension, "simulator", claim === null ? "gander simulator" : `simulator: ${claim}`);
  let state: SimulationState | null = null;
  const act = async (message: FromPanel) => {
    try {
      state = await server.simulate(uri, requestOf(message, state?.simulation ?? null, claim));
      await panel.webview.postMessage({ kind: "state", state, graph });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      await panel.webview.postMessage({ kind: "problem", text });
    }
  };
  panel.webview.onDidReceiveMessage((value: unknown) => {
    const message = readMessage(value);
    return message ? act(message) : undefined;
  });
}

export { runOfEvidence };
