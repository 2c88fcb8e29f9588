// The page of the simulator panel: the run so far, and a button for each transition.
import { RunView, runOfSimulation, type ControlGraph } from "../../../shared/run-view";
import type { FromPanel, SimulationChoice, SimulationState } from "../logic/simulation";

declare function acquireVsCodeApi(): { postMessage(message: FromPanel): void };

const editor = acquireVsCodeApi();
const host = document.querySelector<HTMLElement>("#run")!;
const choices = document.querySelector<HTMLElement>("#choices")!;
const problem = document.querySelector<HTMLElement>("#problem")!;
const violated = document.querySelector<HTMLElement>("#violated")!;
const view = new RunView(host);

for (const kind of ["back", "random", "restart"] as const) {
  document.querySelector(`#${kind}`)!.addEventListener("click", () => editor.postMessage({ kind }));
}
window.addEventListener("message", (event: MessageEvent) => {
  const message = event.data as
    | { kind: "state"; state: SimulationState; graph: ControlGraph | null }
    | { kind: "problem"; text: string };
  if (message.kind === "problem") {
    problem.textContent = message.text;
    return;
  }
  if (message.kind !== "state") return;
  problem.textContent = "";
  const run = runOfSimulation(message.state.rows);
  if (run) view.show(run, message.graph);
  violated.textContent =
    message.state.failing.length > 0 ? `false here: ${message.state.failing.join(", ")}` : "";
  choices.replaceChildren(...message.state.choices.map(choiceForm));
});

function choiceForm(choice: SimulationChoice): HTMLElement {
  const line = document.createElement("div");
  line.className = "choice";
  const button = document.createElement("button");
  button.className = "run-button";
  button.textContent = choice.transition;
  button.disabled = choice.why !== null;
  button.addEventListener("click", () => {
    editor.postMessage({ kind: "take", transition: choice.transition });
  });
  const about = document.createElement("span");
  about.className = "why";
  about.textContent = choice.why ?? (choice.step === choice.transition ? "" : (choice.step ?? ""));
  line.append(button, about);
  return line;
}

editor.postMessage({ kind: "ready" });
