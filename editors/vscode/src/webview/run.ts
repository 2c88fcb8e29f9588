// The page of the run panel.
import { RunView, type ControlGraph, type Run } from "../../../shared/run-view";

declare function acquireVsCodeApi(): { postMessage(message: unknown): void };

const editor = acquireVsCodeApi();
const heading = document.querySelector("h1")!;
const host = document.querySelector<HTMLElement>("#run")!;
const view = new RunView(host, {
  onSelect: (row) => editor.postMessage({ kind: "select", row }),
  onSimulate: (row) => editor.postMessage({ kind: "simulate", row }),
});

window.addEventListener("message", (event: MessageEvent) => {
  const message = event.data as { kind: string; title: string; run: Run; graph: ControlGraph | null };
  if (message.kind !== "run") return;
  heading.textContent = message.title;
  view.show(message.run, message.graph);
  host.focus();
});
editor.postMessage({ kind: "ready" });
