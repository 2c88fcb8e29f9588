// Explanations in words.

import type { Explanation, Range } from "./protocol";

/** What an explanation says about a claim. */
export interface Explained {
  /** Paragraphs. */
  lines: string[];
  elements: { name: string; range: Range | null }[];
}

/** The paragraphs of a text in Markdown, as plain text. */
export function paragraphs(markdown: string): string[] {
  return markdown
    .split(/\n\s*\n/)
    .map((part) => part.replace(/```\w*/g, "").replace(/[*`]/g, "").replace(/^\s*- /gm, "• ").trim())
    .filter(Boolean);
}

export function explained(explanation: Explanation, place: (range: NonNullable<Explanation["elements"][number]["range"]>) => Range): Explained {
  const elements = explanation.elements.map((e) => ({ name: e.name, range: e.range && place(e.range) }));
  return { lines: paragraphs(explanation.text), elements };
}
