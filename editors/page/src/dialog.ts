// Small windows: the list of shortcuts, a question, messages that pass.

import { h } from "./dom";

/** Shows a window until it is closed; Escape closes it. */
export function dialog(title: string, ...content: HTMLElement[]): HTMLDialogElement {
  const close = h("button", { type: "button", class: "icon", "aria-label": "Close", onclick: () => window_.close() }, "✕");
  const window_ = h("dialog", { "aria-label": title }, h("div", { class: "dialog-head" }, h("h2", {}, title), close), ...content);
  window_.addEventListener("close", () => window_.remove());
  window_.addEventListener("click", (event) => {
    if (event.target === window_) window_.close();
  });
  document.body.append(window_);
  window_.showModal();
  return window_;
}

/** Asks; gives the chosen answer, or null. */
export function ask(title: string, text: string, answers: string[]): Promise<string | null> {
  return new Promise((resolve) => {
    let chosen: string | null = null;
    const buttons = answers.map((answer, i) =>
      h("button", { type: "button", class: i === 0 ? "main" : "", onclick: () => { chosen = answer; window_.close(); } }, answer),
    );
    const window_ = dialog(title, h("p", {}, text), h("div", { class: "actions" }, ...buttons));
    window_.addEventListener("close", () => resolve(chosen));
  });
}

const notices = h("div", { class: "notices", role: "status", "aria-live": "polite" });

/** A message that passes after a while. */
export function notify(text: string, isError = false): void {
  if (!notices.isConnected) document.body.append(notices);
  const notice = h("div", { class: `notice${isError ? " error" : ""}` }, text);
  const close = h("button", { type: "button", class: "icon", "aria-label": "Dismiss", onclick: () => notice.remove() }, "✕");
  notice.append(close);
  notices.append(notice);
  while (notices.children.length > 4) notices.firstElementChild!.remove();
  setTimeout(() => notice.remove(), isError ? 12_000 : 5_000);
}
