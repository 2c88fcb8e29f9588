// The run view in Chromium: keys, clicks, hostile names, long runs.
import assert from "node:assert/strict";
import { appendFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { chromium } from "playwright-core";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const browser = ["chromium", "chromium-browser", "google-chrome"]
  .flatMap((name) => (process.env.PATH ?? "").split(":").map((folder) => join(folder, name)))
  .find((path) => path.startsWith("/") && existsSync(path));
const missing = browser ? false : "no Chromium was found";
if (missing && process.env.GANDER_SKIP_LOG) {
  appendFileSync(process.env.GANDER_SKIP_LOG, `SKIPPED vscode run view: ${missing}\n`);
}

const graph = {
  name: "S",
  nodes: [{ name: "A", final: false }, { name: "<b>B</b>", final: true }],
  starts: [{ name: "", target: 0 }],
  edges: [
    { source: 0, target: 0, label: "up(n: int)", guard: ["n > 0"], effect: ["x := x + n"], transitions: ["up"] },
    { source: 0, target: 1, label: "go", guard: [], effect: [], transitions: ["go"] },
  ],
};

function evidence(count, more = {}) {
  const steps = Array.from({ length: count }, (_, i) => ({ transition: "up", params: { n: "1" }, next: { x: String(i + 1) } }));
  const first = { node: "A", values: { x: "0" } };
  return { evidence: { kind: "run", start: "start", first, steps: [...steps, { transition: "go", next: { x: "0" } }], ...more } };
}

let window;
let code;

before(async () => {
  if (missing) return;
  const built = await esbuild.build({
    entryPoints: [join(root, "../shared/run-view/index.ts")],
    bundle: true, write: false, format: "iife", globalName: "module",
  });
  code = built.outputFiles[0].text;
  window = await chromium.launch({ executablePath: browser, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
});

after(() => window?.close());

/** A page that shows a run. */
async function shown(run, drawn = graph) {
  const page = await window.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await page.setContent("<body><div id='host'></div></body>");
  await page.addScriptTag({ content: code });
  await page.evaluate(([run, drawn]) => {
    const style = document.createElement("style");
    style.textContent = module.RUN_VIEW_STYLE;
    document.head.append(style);
    window.chosen = [];
    const host = document.querySelector("#host");
    window.view = new module.RunView(host, { onSelect: (row) => window.chosen.push(row) });
    window.view.show(module.runOfEvidence(run), drawn);
  }, [run, drawn]);
  await page.locator("#host").focus();
  return { page, problems, status: () => page.locator(".run-status").innerText() };
}

test("keys and clicks go through the run", { skip: missing }, async () => {
  const { page, problems, status } = await shown(evidence(2));
  assert.match(await status(), /^step 3 of 3: go/);
  await page.keyboard.press("Home");
  assert.match(await status(), /^step 0 of 3: start/);
  await page.keyboard.press("ArrowRight");
  assert.match(await status(), /^step 1 of 3: up\(n = 1\)/);
  assert.equal(await page.locator(".run-edge.run-current").count(), 1);
  assert.equal(await page.locator(".run-graph-node.run-current text").first().textContent(), "AA");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.match(await status(), /^step 0/);
  await page.locator(".run-action", { hasText: "go" }).click();
  assert.match(await status(), /^step 3/);
  await page.getByRole("button", { name: "step back" }).click();
  assert.match(await status(), /^step 2/);
  assert.deepEqual(await page.evaluate(() => window.chosen), [0, 1, 0, 0, 3, 2]);
  assert.deepEqual(problems, []);
});

test("a run plays to its end, and an infinite one goes round", { skip: missing }, async () => {
  const { page, status } = await shown(evidence(1));
  // A short run may be over before this test looks: the words of the button are recorded.
  const play = page.getByRole("button", { name: "play" });
  await play.evaluate((button) => {
    window.words = [];
    const observer = new MutationObserver(() => window.words.push(button.textContent));
    observer.observe(button, { childList: true, characterData: true, subtree: true });
  });
  await page.keyboard.press(" ");
  await page.waitForFunction(() => window.words.length > 1 && window.words.at(-1).includes("play"));
  assert.ok(await page.evaluate(() => window.words.some((word) => word.includes("pause"))));
  assert.match(await status(), /^step 2 of 2/);
  const lasso = await shown(evidence(1, { kind: "lasso", back_to: 0 }));
  assert.match(await lasso.status(), /from step 0 on for ever/);
  assert.equal(await lasso.page.locator("td.run-loop").first().innerText(), "0");
});

test("names of the model are text, whatever they contain", { skip: missing }, async () => {
  const hostile = `<img src=x onerror="window.hacked=1">`;
  const run = evidence(1);
  run.evidence.first.values = { [hostile]: hostile };
  run.evidence.steps = [{ transition: hostile, params: { [hostile]: hostile }, next: { [hostile]: "1" } }];
  const drawn = structuredClone(graph);
  drawn.edges[0].label = hostile;
  drawn.edges[0].transitions = [hostile];
  const { page, problems } = await shown(run, drawn);
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("#host img, #host b").count(), 0);
  assert.ok((await page.locator(".run-name").allInnerTexts()).includes(hostile));
  assert.deepEqual(problems, []);
});

test("a step in a long run is drawn quickly", { skip: missing }, async () => {
  const begun = Date.now();
  const { page, status } = await shown(evidence(50_000));
  assert.match(await status(), /^step 50001 of 50001/);
  assert.match(await page.locator(".run-table").innerText(), /49602 columns are left out/);
  await page.keyboard.press("Home");
  assert.match(await status(), /^step 0/);
  assert.ok(Date.now() - begun < 30_000);
});
