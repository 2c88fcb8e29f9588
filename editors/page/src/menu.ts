// A button that opens a list of actions.

import { fill, h } from "./dom";

export interface Item {
  label: string;
  about?: string;
  run: () => void;
}

export function menu(label: string, title: string, items: () => Item[]): HTMLElement {
  const list = h("div", { class: "menu-list", role: "menu", hidden: true });
  const button = h("button", { type: "button", "aria-haspopup": "menu", "aria-expanded": "false", title, onclick: () => (list.hidden ? open() : close()) }, label);
  const element = h("div", { class: "menu" }, button, list);
  const entries = () => [...list.querySelectorAll<HTMLElement>("[role=menuitem]")];
  const close = () => {
    if (list.hidden) return;
    const had = list.contains(document.activeElement);
    list.hidden = true;
    button.setAttribute("aria-expanded", "false");
    if (had) button.focus();
  };
  const open = () => {
    fill(
      list,
      ...items().map((item) =>
        h(
          "button",
          { type: "button", role: "menuitem", tabindex: -1, onclick: () => { close(); item.run(); } },
          h("span", {}, item.label),
          item.about ? h("span", { class: "soft" }, item.about) : null,
        ),
      ),
    );
    list.hidden = false;
    button.setAttribute("aria-expanded", "true");
    // Within the window, also on a phone.
    list.style.left = "0";
    const over = list.getBoundingClientRect().right - document.documentElement.clientWidth + 8;
    if (over > 0) list.style.left = `${-over}px`;
    entries()[0]?.focus();
  };
  element.addEventListener("keydown", (event) => {
    if (list.hidden) {
      if (event.key === "ArrowDown") {
        event.preventDefault();
        open();
      }
      return;
    }
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const go = (i: number) => {
      event.preventDefault();
      all[(i + all.length) % all.length]?.focus();
    };
    if (event.key === "ArrowDown") go(at + 1);
    else if (event.key === "ArrowUp") go(at - 1);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(all.length - 1);
    else if (event.key === "Escape") {
      event.stopPropagation();
      close();
    } else if (event.key === "Tab") close();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!element.contains(event.target as Node)) close();
  });
  return element;
}
