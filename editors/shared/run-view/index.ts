// The run view (editors/shared/run-view): data, layout, page and style.
export * from "./graph";
export * from "./run";
export { RUN_VIEW_STYLE } from "./style";
export { RunView, type RunViewOptions } from "./view";
