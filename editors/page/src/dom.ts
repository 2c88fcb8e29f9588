// Building the page. Text is always text: no function here takes HTML.

type Child = Node | string | null | undefined | false;

type Attributes = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

/** An element. Attributes that begin with `on` are listeners; `true` is an empty attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value as unknown as EventListener);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  append(element, children);
  return element;
}

export function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child) element.append(child);
  }
}

/** Replaces the children of an element. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

/** Calls the last of several calls, after a pause. */
export function debounced<A extends unknown[]>(
  milliseconds: number,
  action: (...args: A) => void,
): (...args: A) => void {
  let timer: number | undefined;
  return (...args) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => action(...args), milliseconds);
  };
}

/** Offers a text as a file. */
export function download(name: string, text: string, type = "text/plain"): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A picture from the server as elements, without anything that could act. */
export function svgElement(source: string): SVGSVGElement | null {
  // Pictures for pages have no name space of their own.
  const named = source.includes("xmlns=") ? source : source.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ');
  const parsed = new DOMParser().parseFromString(named, "image/svg+xml");
  const root = parsed.documentElement;
  if (!(root instanceof SVGElement) || root.localName !== "svg" || parsed.querySelector("parsererror")) return null;
  const allowed = new Set(
    "svg g path rect circle text tspan title defs marker line polygon polyline".split(" "),
  );
  for (const element of [...root.querySelectorAll("*")]) {
    if (!allowed.has(element.localName)) element.remove();
  }
  for (const element of [root, ...root.querySelectorAll("*")]) {
    for (const attribute of [...element.attributes]) {
      if (/^on|href$/i.test(attribute.localName)) element.removeAttributeNode(attribute);
    }
  }
  return document.importNode(root, true) as unknown as SVGSVGElement;
}

/** HTML that the editor component made of Markdown, reduced to formatting. */
export function harmless(html: string): string {
  const allowed = new Set(
    "P BR HR PRE CODE SPAN STRONG EM B I DEL UL OL LI H1 H2 H3 H4 H5 H6 TABLE THEAD TBODY TR TH TD BLOCKQUOTE DIV".split(
      " ",
    ),
  );
  const parsed = new DOMParser().parseFromString(html, "text/html");
  for (const element of [...parsed.body.querySelectorAll("*")]) {
    for (const attribute of [...element.attributes]) {
      const keeps = attribute.name === "class" && element.tagName === "SPAN";
      if (!keeps) element.removeAttributeNode(attribute);
    }
    if (!allowed.has(element.tagName)) {
      element.replaceWith(parsed.createTextNode(element.textContent ?? ""));
    }
  }
  return parsed.body.innerHTML;
}
