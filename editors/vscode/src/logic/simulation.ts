// The simulator's messages between its panel and the extension, and checks of what a panel sends:
// a panel shows text of a model, so nothing that comes from it is trusted.
import type { SimulationRow } from "../../../shared/run-view/run";

/** A transition that leaves the current state, or why it cannot. */
export interface SimulationChoice {
  transition: string;
  /** The step with example values of its parameters; null if there is none. */
  step: string | null;
  /** Why there is none. */
  why: string | null;
}

/** A simulation of the server (docs/json.md, "Answers of the service"). */
export interface SimulationState {
  simulation: number;
  version: number;
  rows: SimulationRow[];
  choices: SimulationChoice[];
  /** Claims `always` that are false in the current state. */
  failing: string[];
}

/** From the panel. */
export type FromPanel =
  | { kind: "ready" }
  | { kind: "take"; transition: string }
  | { kind: "back" }
  | { kind: "restart" }
  | { kind: "random" };

/** The message, if it is one. */
export function readMessage(value: unknown): FromPanel | null {
  if (typeof value !== "object" || value === null) return null;
  const message = value as Record<string, unknown>;
  switch (message.kind) {
    case "ready":
    case "restart":
    case "random":
    case "back":
      return { kind: message.kind };
    case "take":
      return typeof message.transition === "string" ? { kind: "take", transition: message.transition } : null;
    default:
      return null;
  }
}

/** The second argument of the server's command `gander.simulate`. */
export function requestOf(message: FromPanel, simulation: number | null, claim: string | null): object {
  if (simulation === null) return claim === null ? {} : { claim };
  switch (message.kind) {
    case "ready":
    case "restart":
      return { simulation, do: "reset" };
    case "random":
      return { simulation, do: "random" };
    case "back":
      return { simulation, do: "undo" };
    case "take":
      return { simulation, do: "step", transition: message.transition };
  }
}
