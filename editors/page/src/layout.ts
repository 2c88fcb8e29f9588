// The frame of the page: bars, editor and panels side by side; one at a time on narrow screens.

import type { ConnectionState } from "./connection";
import { fill, h } from "./dom";
import { LANGUAGES } from "./languages";
import { menu } from "./menu";
import type { Item } from "./menu";
import { Tabs } from "./tabs";
import { themeButton } from "./theme";

export interface LayoutActions {
  check(): void;
  format(): void;
  share(): void;
  save(): void;
  shortcuts(): void;
  examples(): Item[];
  exports(): Item[];
  language(id: string): void;
  automatic(isOn: boolean): void;
  tab(id: string): void;
  reconnect(): void;
  panels: { claims: HTMLElement; run: HTMLElement; simulate: HTMLElement; coverage: HTMLElement };
}

export interface Layout {
  editor: HTMLElement;
  tabs: Tabs;
  cursor: HTMLElement;
  version: HTMLElement;
  language: HTMLSelectElement;
  automatic: HTMLInputElement;
  setName(name: string, isFile: boolean): void;
  setSaved(isSaved: boolean | null): void;
  setProblems(errors: number, warnings: number): void;
  setConnection(state: ConnectionState): void;
  setRunning(isRunning: boolean): void;
  isNarrow(): boolean;
  focusTab(id: string): void;
}

const WIDTH = "gander.width";

export function layout(root: HTMLElement, actions: LayoutActions): Layout {
  const name = h("span", { class: "file-name" });
  const saved = h("span", { class: "saved soft" });
  const language = h(
    "select",
    { "aria-label": "Language", title: "The language of the model", onchange: () => actions.language(language.value) },
    ...LANGUAGES.map((l) => h("option", { value: l.id }, l.label)),
  );
  const automatic = h("input", { type: "checkbox", id: "auto", onchange: () => actions.automatic(automatic.checked) });
  const button = (label: string, title: string, run: () => void, style = "") =>
    h("button", { type: "button", class: style, title, onclick: run }, label);
  const check = button("Check", "Decide all claims (Ctrl Enter)", actions.check, "main check");
  const header = h(
    "header",
    { class: "top" },
    h("h1", {}, h("img", { src: "/icon.svg", alt: "", width: 22, height: 22 }), h("span", {}, "gander")),
    menu("Open ▾", "Examples, files and links", actions.examples),
    h("div", { class: "file" }, name, saved),
    language,
    h("div", { class: "spring" }),
    h("label", { class: "auto", for: "auto", title: "Check when typing pauses" }, automatic, h("span", {}, "while typing")),
    check,
    button("Format", "Format the text (Shift Alt F)", actions.format, "wide-only"),
    button("Save", "Save the file, or download the model (Ctrl S)", actions.save, "wide-only"),
    button("Link", "Copy a link that contains the model", actions.share),
    menu("Export ▾", "Write the model in another language", actions.exports),
    themeButton(),
    h("button", { type: "button", class: "icon shortcuts", "aria-label": "Keyboard shortcuts", title: "Keyboard shortcuts (?)", onclick: actions.shortcuts }, "?"),
  );

  const editor = h("section", { class: "editor", id: "editor", tabindex: -1, "aria-label": "Model" });
  const panel = (content: HTMLElement) => h("div", { class: "panel", tabindex: -1 }, content);
  const panels = {
    claims: panel(actions.panels.claims),
    run: panel(actions.panels.run),
    simulate: panel(actions.panels.simulate),
    coverage: panel(actions.panels.coverage),
  };
  const tabs = new Tabs(
    [
      { id: "model", label: "Model", panel: editor, isNarrow: true },
      { id: "claims", label: "Claims", panel: panels.claims },
      { id: "run", label: "Run", panel: panels.run },
      { id: "simulate", label: "Simulate", panel: panels.simulate },
      { id: "coverage", label: "Coverage", panel: panels.coverage },
    ],
    actions.tab,
  );
  const side = h("section", { class: "side", "aria-label": "Results" }, ...Object.values(panels));
  const narrow = matchMedia("(max-width: 860px)");
  const separator = splitter();
  const main = h("main", {}, editor, separator, h("div", { class: "results" }, tabs.list, side));

  const problems = h("span", { class: "problems", role: "status" });
  const cursor = h("span", { class: "cursor soft" });
  const version = h("span", { class: "version soft" });
  const connection = h("span", { class: "connection", role: "status", "aria-live": "polite" });
  const footer = h(
    "footer",
    {},
    problems,
    cursor,
    h("span", { class: "spring" }),
    connection,
    version,
    h("a", { href: `/licences.txt${location.search}`, class: "soft", target: "_blank", rel: "noopener" }, "licences"),
  );
  fill(root, header, main, footer);

  const adapt = () => {
    // The list of tabs is at the bottom of a phone, below everything.
    if (narrow.matches) root.insertBefore(tabs.list, footer);
    else main.lastElementChild!.prepend(tabs.list);
    if (!narrow.matches && tabs.selected === "model") tabs.select("claims");
    editor.classList.toggle("selected", tabs.selected === "model");
  };
  narrow.addEventListener("change", adapt);
  tabs.select(narrow.matches ? "model" : "claims");
  adapt();

  function splitter(): HTMLElement {
    const set = (percent: number) => {
      const value = Math.max(25, Math.min(75, percent));
      document.documentElement.style.setProperty("--split", `${value}%`);
      element.setAttribute("aria-valuenow", String(Math.round(value)));
      localStorage.setItem(WIDTH, String(value));
    };
    const element = h("div", { class: "splitter", role: "separator", tabindex: 0, "aria-orientation": "vertical", "aria-label": "Width of the editor", "aria-valuemin": 25, "aria-valuemax": 75 });
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      const move = (e: PointerEvent) => set((e.clientX / innerWidth) * 100);
      element.addEventListener("pointermove", move);
      element.addEventListener("pointerup", () => element.removeEventListener("pointermove", move), { once: true });
    });
    element.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -2, ArrowRight: 2 }[event.key];
      if (step) set(Number(element.getAttribute("aria-valuenow")) + step);
    });
    set(Number(localStorage.getItem(WIDTH)) || 54);
    return element;
  }

  return {
    editor,
    tabs,
    cursor,
    version,
    language,
    automatic,
    setName(text, isFile) {
      name.textContent = text;
      name.title = isFile ? `${text}: the file that gander serve was started with` : text;
    },
    setSaved(isSaved) {
      saved.textContent = isSaved === null ? "" : isSaved ? "saved" : "● not saved";
      saved.classList.toggle("changed", isSaved === false);
    },
    setProblems(errors, warnings) {
      const count = (n: number, word: string) => `${n} ${word}${n === 1 ? "" : "s"}`;
      fill(
        problems,
        h("span", { class: errors > 0 ? "fails" : "soft" }, `✗ ${count(errors, "error")}`),
        h("span", { class: warnings > 0 ? "unknown" : "soft" }, `⚠ ${count(warnings, "warning")}`),
      );
      tabs.badge("model", errors > 0 ? String(errors) : "", "fails");
      check.disabled = errors > 0;
      check.title = errors > 0 ? "The text has errors" : "Decide all claims (Ctrl Enter)";
    },
    setConnection(state) {
      connection.className = `connection ${state.kind}`;
      document.documentElement.dataset.connection = state.kind;
      if (state.kind === "open") fill(connection, "● connected");
      else if (state.kind === "connecting") fill(connection, "○ connecting…");
      else {
        fill(
          connection,
          h("span", {}, `○ ${state.why}. Your text is kept. `),
          h("button", { type: "button", class: "small", onclick: actions.reconnect }, "Try now"),
        );
      }
    },
    setRunning(isRunning) {
      check.classList.toggle("running", isRunning);
    },
    isNarrow: () => narrow.matches,
    focusTab(id) {
      tabs.select(id);
      const panel = panels[id as keyof typeof panels];
      // A button that stops the check is not what is looked for.
      const inside = panel?.querySelector<HTMLElement>("[data-focus]") ?? panel?.querySelector<HTMLElement>("button:not([disabled]), .timeline, select");
      (inside ?? document.querySelector<HTMLElement>(`#tab-${id}`))?.focus();
    },
  };
}
