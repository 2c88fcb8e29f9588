// A list of tabs with panels, for the keyboard too.

import { h } from "./dom";

export interface Tab {
  id: string;
  label: string;
  panel: HTMLElement;
  /** Shown only on narrow screens, where the editor is a tab as well. */
  isNarrow?: boolean;
}

export class Tabs {
  readonly list = h("div", { class: "tabs", role: "tablist", "aria-label": "Views" });
  private current = "";

  constructor(private readonly tabs: Tab[], private readonly changed: (id: string) => void) {
    for (const tab of tabs) {
      const button = h(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${tab.id}`,
          "aria-controls": `panel-${tab.id}`,
          class: tab.isNarrow ? "narrow-only" : "",
          onclick: () => this.select(tab.id),
        },
        tab.label,
      );
      this.list.append(button);
      tab.panel.id = `panel-${tab.id}`;
      tab.panel.setAttribute("role", "tabpanel");
      tab.panel.setAttribute("aria-labelledby", `tab-${tab.id}`);
    }
    this.list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const visible = this.tabs.filter((t) => this.button(t.id).offsetParent !== null);
      const at = visible.findIndex((t) => t.id === this.current);
      const next = visible[(at + step + visible.length) % visible.length];
      if (next) {
        this.select(next.id);
        this.button(next.id).focus();
      }
      event.preventDefault();
    });
  }

  get selected(): string {
    return this.current;
  }

  select(id: string): void {
    this.current = id;
    for (const tab of this.tabs) {
      const isOn = tab.id === id;
      const button = this.button(tab.id);
      button.setAttribute("aria-selected", String(isOn));
      button.tabIndex = isOn ? 0 : -1;
      tab.panel.classList.toggle("selected", isOn);
    }
    this.changed(id);
  }

  badge(id: string, text: string, style = ""): void {
    const button = this.button(id);
    button.querySelector(".badge")?.remove();
    if (text) button.append(h("span", { class: `badge ${style}` }, text));
  }

  private button(id: string): HTMLButtonElement {
    return this.list.querySelector<HTMLButtonElement>(`#tab-${id}`)!;
  }
}
