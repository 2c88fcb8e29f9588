// The tree of verdicts in the side bar.
import * as vscode from "vscode";

import { type Icon, type TreeLine, treeOf } from "../logic/present";
import type { VerdictStore } from "../logic/verdicts";

export class VerdictTree implements vscode.TreeDataProvider<TreeLine> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly store: VerdictStore) {}

  refresh(): void {
    this.changed.fire();
  }

  getChildren(line?: TreeLine): TreeLine[] {
    if (line) return line.children;
    return treeOf(this.store.all(), (uri) => vscode.workspace.asRelativePath(vscode.Uri.parse(uri)));
  }

  getTreeItem(line: TreeLine): vscode.TreeItem {
    const states = vscode.TreeItemCollapsibleState;
    const state = line.children.length === 0 ? states.None : line.expanded ? states.Expanded : states.Collapsed;
    const item = new vscode.TreeItem(line.label, state);
    item.id = line.id;
    item.description = line.description;
    item.tooltip = line.tooltip;
    item.contextValue = line.context;
    if (line.icon) item.iconPath = themeIcon(line.icon);
    if (line.claim !== null && line.context !== "detail") {
      item.command = { command: "gander.reveal", title: "Show the claim", arguments: [line] };
    }
    return item;
  }
}

function themeIcon(icon: Icon): vscode.ThemeIcon {
  return new vscode.ThemeIcon(icon.id, icon.color === null ? undefined : new vscode.ThemeColor(icon.color));
}
