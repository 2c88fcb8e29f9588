// The list of shortcuts.

import { dialog } from "./dialog";
import { h } from "./dom";

const isMac = /Mac|iP(hone|ad)/.test(navigator.platform);
const MOD = isMac ? "⌘" : "Ctrl";

const LIST: [string, [string, string][]][] = [
  [
    "Everywhere",
    [
      [`${MOD} Enter`, "Check all claims"],
      [`${MOD} S`, "Save the file, or download the model"],
      ["Alt 0", "Go to the text"],
      ["Alt 1 … Alt 4", "Go to claims, run, simulator, coverage"],
      ["?", "This list (outside the text)"],
    ],
  ],
  [
    "Text",
    [
      [`${MOD} Space`, "Complete"],
      [`${MOD} .`, "Quick fix"],
      ["Shift Alt F", "Format"],
      ["F2", "Rename"],
      ["F12, Shift F12", "Definition, references"],
      ["F8", "Next message"],
      [`${MOD} F`, "Search"],
      ["Escape, then Tab", "Leave the text with the keyboard"],
    ],
  ],
  [
    "Run and simulator",
    [
      ["← →", "One state back or forward (in the table)"],
      ["Home, End", "First and last state"],
      ["Space", "Play or pause the run"],
      ["1 … 9", "Take a step in the simulator"],
      ["Backspace", "Take the last step back"],
    ],
  ],
];

export function showShortcuts(): void {
  dialog(
    "Keyboard",
    ...LIST.map(([title, keys]) =>
      h(
        "section",
        {},
        h("h3", {}, title),
        h("dl", { class: "keys" }, ...keys.flatMap(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)])),
      ),
    ),
  );
}
