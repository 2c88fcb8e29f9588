// Light and dark: as the browser says, or as the user chose.

import { h } from "./dom";

type Choice = "auto" | "light" | "dark";
const KEY = "gander.theme";
const NEXT: Record<Choice, Choice> = { auto: "light", light: "dark", dark: "auto" };
const LABEL: Record<Choice, string> = {
  auto: "Colours: as the system",
  light: "Colours: light",
  dark: "Colours: dark",
};
const SIGN: Record<Choice, string> = { auto: "◐", light: "☀", dark: "☾" };

function chosen(): Choice {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "auto";
}

function apply(choice: Choice): void {
  document.documentElement.dataset.theme = choice;
}

/** The button that switches. */
export function themeButton(): HTMLButtonElement {
  apply(chosen());
  const show = () => {
    const choice = chosen();
    button.textContent = SIGN[choice];
    button.title = LABEL[choice];
    button.setAttribute("aria-label", LABEL[choice]);
  };
  const button = h("button", {
    class: "icon",
    type: "button",
    onclick: () => {
      localStorage.setItem(KEY, NEXT[chosen()]);
      apply(chosen());
      show();
    },
  });
  show();
  return button;
}
