// The style of the run view. Colours come from custom properties, which the editor's panel and the
// page set; the fallbacks fit a light page.

export const RUN_VIEW_STYLE = `
:root { --run-fg: var(--vscode-editor-foreground, var(--fg, #1f2933));
  --run-bg: var(--vscode-editor-background, var(--bg, #ffffff));
  --run-line: var(--vscode-panel-border, var(--line, #c4ccd4));
  --run-accent: var(--vscode-textLink-foreground, var(--accent, #1f6fb2));
  --run-mark: var(--vscode-editor-findMatchHighlightBackground, var(--mark, #ffe9a8)); }
.run-view { color: var(--run-fg); outline: none; display: flex; flex-direction: column; gap: 10px;
  font-size: 13px; }
.run-view:focus-visible { box-shadow: 0 0 0 1px var(--run-accent); }
.run-bar { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; }
.run-button { font: inherit; color: inherit; background: transparent; cursor: pointer;
  border: 1px solid var(--run-line); border-radius: 4px; padding: 2px 8px; min-width: 30px; }
.run-button:hover, .run-button:focus-visible { border-color: var(--run-accent); }
.run-status { margin-left: 8px; overflow-wrap: anywhere; }
.run-graph, .run-table { overflow: auto; max-width: 100%; }
.run-graph:empty { display: none; }
.run-timeline { border-collapse: collapse; font-family: var(--vscode-editor-font-family, monospace); }
.run-timeline th, .run-timeline td { border: 1px solid var(--run-line); padding: 2px 8px;
  text-align: right; white-space: nowrap; max-width: 24em; overflow: hidden; text-overflow: ellipsis; }
.run-timeline th { position: sticky; left: 0; background: var(--run-bg); text-align: left;
  font-weight: normal; }
.run-timeline td { cursor: pointer; }
.run-timeline .run-changed { font-weight: bold; background: var(--run-mark); }
.run-timeline .run-current { outline: 2px solid var(--run-accent); outline-offset: -2px; }
.run-timeline .run-loop { border-left: 3px double var(--run-accent); }
.run-note { margin: 4px 0; }
.run-svg text { fill: var(--run-fg); font: 12px var(--vscode-editor-font-family, monospace); }
.run-graph-node rect { fill: var(--run-bg); stroke: var(--run-fg); }
.run-edge path { fill: none; stroke: var(--run-line); }
.run-edge text { opacity: 0.75; }
.run-arrow { fill: var(--run-line); }
.run-taken path { stroke: var(--run-fg); }
.run-graph-node.run-current rect { stroke: var(--run-accent); stroke-width: 3; }
.run-edge.run-current path { stroke: var(--run-accent); stroke-width: 3; }
.run-edge.run-current text { opacity: 1; font-weight: bold; }
@media (prefers-reduced-motion: no-preference) {
  .run-graph-node rect, .run-edge path { transition: stroke 150ms, stroke-width 150ms; }
}
`;
