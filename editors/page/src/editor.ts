// The editor: text with colours, messages, marks of cores and runs, and verdicts beside the claims.

import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import {
  Annotation,
  Compartment,
  EditorState,
  RangeSet,
  RangeSetBuilder,
  StateEffect,
  StateField,
} from "@codemirror/state";
import type { Extension, Text } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  GutterMarker,
  drawSelection,
  dropCursor,
  gutter,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import type { DecorationSet } from "@codemirror/view";

import { h } from "./dom";
import { colours } from "./languages";
import type { LspRange, Range, Word } from "./protocol";

/** A part of the text with a meaning. */
export interface Mark {
  range: Range;
  kind: "core" | "covered" | "no-core" | "step";
  title: string;
}

/** The verdict of a claim, beside its first line. */
export interface LineVerdict {
  line: number;
  word: Word | "open";
  isCurrent: boolean;
  text: string;
}

const setMarks = StateEffect.define<{ group: string; marks: Mark[] }>();
const setVerdicts = StateEffect.define<LineVerdict[]>();

/** A change that comes from elsewhere than the user. */
export const loaded = Annotation.define<boolean>();

/** The offset of a line and column, which count from one and in characters. */
export function offsetOf(doc: Text, line: number, column: number): number {
  if (line > doc.lines) return doc.length;
  const at = doc.line(Math.max(1, line));
  let offset = 0;
  let left = column - 1;
  for (const character of at.text) {
    if (left-- <= 0) break;
    offset += character.length;
  }
  return Math.min(at.from + offset, at.to);
}

export function spanOf(doc: Text, range: Range): { from: number; to: number } {
  const from = offsetOf(doc, range.line, range.column);
  return { from, to: Math.max(from, offsetOf(doc, range.end_line, range.end_column)) };
}

const marksField = StateField.define<Map<string, DecorationSet>>({
  create: () => new Map(),
  update(groups, transaction) {
    let next = groups;
    if (transaction.docChanged && groups.size > 0) {
      next = new Map([...groups].map(([name, set]) => [name, set.map(transaction.changes)]));
    }
    for (const effect of transaction.effects) {
      if (!effect.is(setMarks)) continue;
      next = new Map(next);
      const doc = transaction.state.doc;
      const spans = effect.value.marks
        .map((mark) => ({ ...spanOf(doc, mark.range), mark }))
        .filter(({ from, to }) => from < to);
      const set = Decoration.set(
        spans.map(({ from, to, mark }) =>
          Decoration.mark({ class: `mark-${mark.kind}`, attributes: { title: mark.title } }).range(from, to),
        ),
        true,
      );
      if (spans.length > 0) next.set(effect.value.group, set);
      else next.delete(effect.value.group);
    }
    return next;
  },
  provide: (field) =>
    EditorView.decorations.computeN([field], (state) => [...state.field(field).values()]),
});

const SIGNS: Record<Word | "open", string> = {
  holds: "✓",
  fails: "✗",
  unknown: "?",
  vacuous: "∅",
  open: "…",
};

class VerdictMarker extends GutterMarker {
  constructor(private readonly verdict: LineVerdict) {
    super();
  }
  override eq(other: VerdictMarker): boolean {
    const [a, b] = [this.verdict, other.verdict];
    return a.word === b.word && a.isCurrent === b.isCurrent && a.text === b.text;
  }
  override toDOM(): Node {
    const { word, isCurrent, text } = this.verdict;
    const style = `sign ${word}${isCurrent ? "" : " outdated"}`;
    return h("span", { class: style, title: text, role: "img", "aria-label": text }, SIGNS[word]);
  }
}

const verdictsField = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(set, transaction) {
    let next = set.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setVerdicts)) continue;
      const builder = new RangeSetBuilder<GutterMarker>();
      const doc = transaction.state.doc;
      const worst: (Word | "open")[] = ["fails", "vacuous", "unknown", "open", "holds"];
      const byLine = new Map<number, LineVerdict>();
      for (const verdict of effect.value) {
        if (verdict.line < 1 || verdict.line > doc.lines) continue;
        const other = byLine.get(verdict.line);
        if (!other || worst.indexOf(verdict.word) < worst.indexOf(other.word)) {
          byLine.set(verdict.line, verdict);
        }
      }
      for (const line of [...byLine.keys()].sort((a, b) => a - b)) {
        const from = doc.line(line).from;
        builder.add(from, from, new VerdictMarker(byLine.get(line)!));
      }
      next = builder.finish();
    }
    return next;
  },
});

export interface EditorOptions {
  changed(): void;
  cursor(line: number, column: number): void;
  keys: { key: string; run: () => boolean }[];
}

export class Editor {
  readonly view: EditorView;
  private readonly language = new Compartment();
  private readonly server = new Compartment();

  constructor(parent: HTMLElement, options: EditorOptions) {
    const follow = EditorView.updateListener.of((update) => {
      if (update.docChanged) options.changed();
      if (update.docChanged || update.selectionSet) {
        const head = update.state.selection.main.head;
        const line = update.state.doc.lineAt(head);
        options.cursor(line.number, head - line.from + 1);
      }
    });
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          keymap.of(options.keys.map(({ key, run }) => ({ key, run, preventDefault: true }))),
          lineNumbers(),
          gutter({
            class: "verdicts",
            markers: (view) => view.state.field(verdictsField),
            initialSpacer: () =>
              new VerdictMarker({ line: 1, word: "holds", isCurrent: true, text: "" }),
          }),
          foldGutter(),
          // Verdicts have a column of their own.
          lintGutter({ markerFilter: (all) => all.filter((d) => d.severity !== "info") }),
          history(),
          highlightSpecialChars(),
          drawSelection(),
          dropCursor(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSelectionMatches(),
          search({ top: true }),
          indentUnit.of("  "),
          EditorState.tabSize.of(2),
          marksField,
          verdictsField,
          colours,
          keymap.of([
            ...closeBracketsKeymap,
            ...defaultKeymap,
            ...searchKeymap,
            ...historyKeymap,
            ...foldKeymap,
            ...completionKeymap,
            ...lintKeymap,
            indentWithTab,
          ]),
          EditorView.contentAttributes.of({ "aria-label": "The text of the model", spellcheck: "false" }),
          this.language.of([]),
          this.server.of([]),
          follow,
        ],
      }),
    });
  }

  /** A place of the protocol, whose columns count UTF-16 units. */
  placeOf(range: LspRange): Range {
    const { doc } = this.view.state;
    const at = ({ line, character }: LspRange["start"]) => {
      const found = doc.line(Math.min(doc.lines, line + 1));
      const before = found.text.slice(0, character);
      return { offset: found.from + before.length, line: found.number, column: [...before].length + 1 };
    };
    const [start, end] = [at(range.start), at(range.end)];
    return { start: start.offset, end: end.offset, line: start.line, column: start.column, end_line: end.line, end_column: end.column };
  }

  /** The text of a place, shortened to a line. */
  excerpt(range: Range): string {
    const { from, to } = spanOf(this.view.state.doc, range);
    const text = this.view.state.sliceDoc(from, Math.min(to, from + 200)).replace(/\s+/g, " ");
    return text.length > 70 ? `${text.slice(0, 70)}…` : text;
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  /** Replaces the whole text, as one step of the history. */
  load(text: string): void {
    const length = this.view.state.doc.length;
    this.view.dispatch({
      changes: { from: 0, to: length, insert: text },
      selection: { anchor: 0 },
      scrollIntoView: true,
      annotations: loaded.of(true),
    });
  }

  setLanguage(extension: Extension): void {
    this.view.dispatch({ effects: this.language.reconfigure(extension) });
  }

  /** The language features for the current document. */
  setServer(extension: Extension): void {
    this.view.dispatch({ effects: this.server.reconfigure(extension) });
  }

  mark(group: string, marks: Mark[]): void {
    this.view.dispatch({ effects: setMarks.of({ group, marks }) });
  }

  showVerdicts(verdicts: LineVerdict[]): void {
    this.view.dispatch({ effects: setVerdicts.of(verdicts) });
  }

  /** Shows a place without going there. */
  scrollTo(range: Range): void {
    const { from } = spanOf(this.view.state.doc, range);
    this.view.dispatch({ effects: EditorView.scrollIntoView(from, { y: "nearest", yMargin: 40 }) });
  }

  /** Selects a place and shows it. */
  reveal(range: Range, focus = true): void {
    const { from, to } = spanOf(this.view.state.doc, range);
    this.view.dispatch({
      selection: { anchor: from, head: to },
      effects: EditorView.scrollIntoView(from, { y: "center" }),
    });
    if (focus) this.view.focus();
  }
}
