// The extension in VS Code (code-server) in Chromium: install the package, open a model, see the
// verdicts, the run and the simulator, break the model and see the message.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const repository = dirname(dirname(root));
const entry =
  process.env.GANDER_CODE_SERVER ??
  join(repository, "target/code-server/node_modules/code-server/out/node/entry.js");
const gander = process.env.GANDER ?? join(repository, "target/debug/gander");
const browser = ["chromium", "chromium-browser", "google-chrome"]
  .flatMap((name) => (process.env.PATH ?? "").split(":").map((folder) => join(folder, name)))
  .find((path) => path.startsWith("/") && existsSync(path));
const shots = process.env.GANDER_SHOTS;
const LONG = 60_000;

const MODEL = `spec Bank
var balance: int
start -> Open { balance == 50 }
node Open {
  deposit(n: int 1..100) { balance := balance + n }
  freeze -> Frozen
}
node Frozen { thaw -> Open }
always solvent: balance >= 0
always modest: balance < 300
reachable frozen: in Frozen
`;

const missing = !existsSync(entry)
  ? "code-server is not installed: npm run setup-e2e"
  : !existsSync(gander)
    ? "target/debug/gander was not built"
    : !browser
      ? "no Chromium was found"
      : null;
if (missing && process.env.GANDER_SKIP_LOG) {
  appendFileSync(process.env.GANDER_SKIP_LOG, `SKIPPED vscode end to end: ${missing}\n`);
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function answers(url) {
  const end = Date.now() + LONG;
  while (Date.now() < end) {
    const ok = await fetch(url).then((r) => r.ok, () => false);
    if (ok) return;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  throw new Error("code-server did not start");
}

test("the extension in VS Code", { skip: missing ?? false, timeout: 600_000 }, async () => {
  const packed = spawnSync(process.execPath, [join(root, "scripts/package.mjs")], { encoding: "utf8" });
  assert.equal(packed.status, 0, packed.stdout + packed.stderr);
  const folder = mkdtempSync(join(tmpdir(), "gander-vscode-"));
  const [models, user, extensions] = ["models", "user", "extensions"].map((name) => join(folder, name));
  for (const made of [models, join(user, "User"), extensions]) mkdirSync(made, { recursive: true });
  writeFileSync(join(models, "bank.sts"), MODEL);
  const settings = {
    "gander.path": gander,
    "security.workspace.trust.enabled": false,
    "workbench.startupEditor": "none",
    "telemetry.telemetryLevel": "off",
  };
  writeFileSync(join(user, "User", "settings.json"), JSON.stringify(settings));
  const own = ["--user-data-dir", user, "--extensions-dir", extensions];
  const vsix = join(root, "gander-0.1.0.vsix");
  const installed = spawnSync(process.execPath, [entry, ...own, "--install-extension", vsix], { encoding: "utf8" });
  assert.equal(installed.status, 0, installed.stdout + installed.stderr);
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const words = [entry, ...own, "--auth", "none", "--bind-addr", address, "--disable-telemetry",
    "--disable-update-check", "--disable-workspace-trust", models];
  const server = spawn(process.execPath, words, { stdio: "ignore" });
  const window = await chromium.launch({ executablePath: browser, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  try {
    await answers(`http://${address}/healthz`);
    const page = await window.newPage({ viewport: { width: 1400, height: 900 } });
    try {
      await drive(page, address, models);
    } catch (error) {
      if (shots) await page.screenshot({ path: join(shots, "failed.png") });
      throw error;
    }
  } finally {
    await window.close();
    server.kill();
    await new Promise((resolve) => server.once("exit", resolve));
    rmSync(folder, { recursive: true, force: true });
  }
});

async function drive(page, address, models) {
  page.setDefaultTimeout(LONG);
  const shot = async (name) => {
    if (shots) await page.screenshot({ path: join(shots, `${name}.png`) });
  };
  const command = async (title) => {
    await page.keyboard.press("F1");
    await page.locator(".quick-input-widget input").fill(`>${title}`);
    await page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().click();
  };
  const file = encodeURIComponent(join(models, "bank.sts"));
  await page.goto(`http://${address}/?folder=${encodeURIComponent(models)}&payload=[["openFile","vscode-remote://${address}${file.replaceAll("%2F", "/")}"]]`);
  await page.locator(".monaco-editor .view-lines").first().waitFor();
  // The model is checked when it is opened: one claim fails.
  const status = page.locator(".statusbar-item", { hasText: "gander" });
  await status.filter({ hasText: "1 fails" }).waitFor();
  await shot("verdicts");
  // Words of the language have a colour of their own.
  const colour = (text) =>
    page.locator(".view-line span span", { hasText: new RegExp(`^${text}\\s*$`) }).first()
      .evaluate((span) => getComputedStyle(span).color);
  assert.notEqual(await colour("always"), await colour("solvent"));
  // The tree has the claims.
  await command("View: Show gander");
  const tree = page.locator(".pane", { hasText: "Verdicts" }).locator(".monaco-list-row");
  await tree.filter({ hasText: "modest" }).filter({ hasText: "fails: a" }).waitFor();
  await tree.filter({ hasText: "solvent" }).filter({ hasText: "holds: proof" }).waitFor();
  // The editor draws lenses that come late when it is used next.
  await page.locator(".view-lines").first().click();
  await page.keyboard.press("Control+End");
  await page.locator(".codelens-decoration", { hasText: "explain" }).first().waitFor();
  await shot("tree");
  // The run of the claim that fails.
  await tree.filter({ hasText: "modest" }).click();
  await tree.filter({ hasText: "modest" }).hover();
  await tree.filter({ hasText: "modest" }).locator("a[aria-label='Show Run']").click();
  const run = await inner(page, "#run");
  await run.locator(".run-timeline td", { hasText: "deposit" }).first().waitFor();
  assert.equal(await run.locator(".run-graph-node").count(), 2);
  await run.locator("#run").focus();
  await run.locator("#run").press("Home");
  assert.match(await run.locator(".run-status").innerText(), /^step 0 of/);
  await run.locator("#run").press("ArrowRight");
  assert.match(await run.locator(".run-status").innerText(), /^step 1 of/);
  await shot("run");
  // The simulator continues the run.
  await run.getByRole("button", { name: "simulate from this state" }).click();
  const simulator = await inner(page, "#choices");
  await simulator.locator(".choice button", { hasText: "freeze" }).click();
  await simulator.locator(".run-timeline td", { hasText: "freeze" }).first().waitFor();
  assert.match(await simulator.locator("#violated").innerText(), /modest/);
  await shot("simulator");
  // An edit makes verdicts outdated at once; a wrong one gets a message.
  await command("View: Close All Editors");
  await page.keyboard.press("Control+p");
  await page.locator(".quick-input-widget input").fill("bank.sts");
  await page.keyboard.press("Enter");
  await page.locator(".view-lines").first().click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("always broken: balanse > 0");
  await tree.filter({ hasText: "solvent" }).filter({ hasText: "for an older text" }).waitFor();
  await page.locator(".squiggly-error").first().waitFor();
  await shot("broken");
}

/** The frame of a panel that has an element; panels are nested twice. */
async function inner(page, selector) {
  const end = Date.now() + LONG;
  while (Date.now() < end) {
    for (const frame of page.frames().reverse()) {
      if ((await frame.locator(selector).count().catch(() => 0)) > 0) return frame;
    }
    await page.waitForTimeout(200);
  }
  throw new Error(`no panel has ${selector}`);
}
