// Marks in the margin for verdicts, and shades for coverage.
import * as vscode from "vscode";

import { utf16Column } from "../logic/columns";
import { marksOf } from "../logic/present";
import type { Covered } from "../logic/protocol";
import type { DocumentVerdicts } from "../logic/verdicts";

type Style = vscode.TextEditorDecorationType;

export class Decorations implements vscode.Disposable {
  private readonly marks: Record<"holds" | "fails" | "unknown" | "vacuous", Style>;
  private readonly shades: Record<Covered["covered"], Style>;

  constructor(folder: vscode.Uri) {
    const mark = (name: string, color: string) =>
      vscode.window.createTextEditorDecorationType({
        gutterIconPath: vscode.Uri.joinPath(folder, "media", `${name}.svg`),
        gutterIconSize: "75%",
        overviewRulerColor: new vscode.ThemeColor(color),
        overviewRulerLane: vscode.OverviewRulerLane.Left,
      });
    const shade = (color: string, after?: string) =>
      vscode.window.createTextEditorDecorationType({
        backgroundColor: new vscode.ThemeColor(color),
        ...(after === undefined ? {} : { border: after }),
      });
    this.marks = {
      holds: mark("holds", "testing.iconPassed"),
      fails: mark("fails", "testing.iconFailed"),
      unknown: mark("unknown", "testing.iconQueued"),
      vacuous: mark("vacuous", "testing.iconErrored"),
    };
    this.shades = {
      covered: shade("gander.coveredBackground"),
      uncovered: shade("gander.uncoveredBackground"),
      "no-found-core": shade("gander.uncoveredBackground"),
      unknown: shade("gander.unknownCoverageBackground", "1px dotted gray"),
    };
  }

  /** Draws the marks of a document, or removes them. */
  drawMarks(editor: vscode.TextEditor, document: DocumentVerdicts | undefined): void {
    const marks = document ? marksOf(document) : [];
    for (const [kind, style] of Object.entries(this.marks)) {
      const here = marks.filter((mark) => mark.kind === kind && mark.line < editor.document.lineCount);
      const options = here.map((mark) => ({
        range: new vscode.Range(mark.line, 0, mark.line, 0),
        hoverMessage: plain(mark.hover),
      }));
      editor.setDecorations(style, options);
    }
  }

  /** Draws coverage, or removes it. */
  drawShades(editor: vscode.TextEditor, covered: Covered[]): void {
    const hints = {
      covered: "Some claim rests on this.",
      uncovered: "No explained claim rests on this.",
      "no-found-core": "In no minimal core that was found; others may exist.",
      unknown: "It is not known whether a claim rests on this.",
    };
    for (const kind of ["covered", "uncovered", "no-found-core", "unknown"] as const) {
      const here = covered.filter((part) => part.covered === kind);
      const options = here.map(({ range: { start, end } }) => ({
        range: new vscode.Range(start.line, start.character, end.line, end.character),
        hoverMessage: plain(hints[kind]),
      }));
      editor.setDecorations(this.shades[kind], options);
    }
  }

  dispose(): void {
    for (const style of [...Object.values(this.marks), ...Object.values(this.shades)]) style.dispose();
  }
}

/** A place of the service in a document of the editor. */
export function position(document: vscode.TextDocument, [line, column]: [number, number]): vscode.Position {
  if (line >= document.lineCount) return document.lineAt(document.lineCount - 1).range.end;
  return new vscode.Position(line, utf16Column(document.lineAt(line).text, column));
}

/** Text of a model in a hover: never markup. */
function plain(text: string): vscode.MarkdownString {
  return new vscode.MarkdownString().appendText(text);
}
