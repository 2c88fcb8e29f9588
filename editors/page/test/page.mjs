// The page in a real browser, with a real server: `node page.mjs GANDER FOLDER CHROMIUM [PICTURES]`.
// FOLDER is an empty folder for models; with PICTURES, screenshots are written there. Ends with exit
// code 0 if all is as it should be.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [gander, folder, executablePath, pictures] = process.argv.slice(2);
const TIME = 60_000;

const MODEL = `spec Account
// <img src=x onerror="window.hacked = true">
var balance: int
start -> Open { balance == 50 }
node Open {
  deposit(amount: int) when amount > 0 and amount <= 20 { balance := balance + amount }
  withdraw(amount: int) when amount > 0 and amount <= balance + 1 { balance := balance - amount }
  freeze -> Frozen
}
node Frozen { thaw -> Open }
always solvent: balance >= 0
always counted: balance >= -5
reachable frozen: in Frozen
`;
const file = join(folder, "account.sts");
writeFileSync(file, MODEL);

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function serve(port) {
  const environment = { ...process.env, DISPLAY: "", WAYLAND_DISPLAY: "" };
  const child = spawn(gander, ["serve", file, "--no-open", "--port", String(port)], {
    env: environment,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = "";
  for await (const part of child.stdout) {
    text += part;
    if (text.includes("\n")) break;
  }
  const address = text.split("\n")[0];
  if (!address.startsWith(`http://127.0.0.1:${port}/?token=`)) throw new Error(`no address: ${text}`);
  return { child, address };
}

let failures = 0;
async function part(name, action) {
  const begun = Date.now();
  try {
    await action();
    console.log(`ok ${name} (${Date.now() - begun} ms)`);
  } catch (problem) {
    failures += 1;
    console.log(`FAILED ${name}: ${problem.stack ?? problem}`);
    await page.screenshot({ path: join(pictures ?? folder, `failed-${failures}.png`) }).catch(() => {});
  }
}

function must(condition, what) {
  if (!condition) throw new Error(what);
}

async function until(isSo, what) {
  const end = Date.now() + TIME;
  while (!(await isSo())) {
    must(Date.now() < end, what);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const port = await freePort();
let server = await serve(port);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const complaints = [];

async function open(address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 820 }, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const opened = await context.newPage();
  opened.setDefaultTimeout(TIME);
  opened.on("console", (message) => {
    const text = message.text();
    // A server that was killed cannot be reached; the browser says so.
    if (message.type() === "error" && !/ERR_CONNECTION|WebSocket connection|Failed to load resource/.test(text)) {
      complaints.push(text);
    }
  });
  opened.on("pageerror", (error) => complaints.push(String(error)));
  await opened.goto(address);
  await opened.locator('html[data-connection="open"]').waitFor();
  return opened;
}

const page = await open(server.address);
const verdict = (claim, word, on = page) =>
  on.locator(`[data-claim="${claim}"][data-verdict="${word}"]`).waitFor({ state: "attached" });
const textOf = (on = page) => on.evaluate(() => document.querySelector(".cm-content").cmView?.view?.state.doc.toString() ?? document.querySelector(".cm-content").innerText);
const typeAtEnd = async (text) => {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(text);
};
const picture = async (name, on = page) => pictures && on.screenshot({ path: join(pictures, `${name}.png`) });

await part("verdicts come while the page is open", async () => {
  await verdict("solvent", "fails");
  await verdict("counted", "holds");
  await verdict("frozen", "holds");
  must((await page.title()) === "account.sts · gander", "the title names the file");
});

await part("nothing of the model is HTML", async () => {
  must(!(await page.evaluate(() => window.hacked)), "a script of the model ran");
  must((await page.locator(".cm-content img").count()) <= 1, "an element of the model is in the page");
});

await part("an error is underlined, and its fix repairs it", async () => {
  await typeAtEnd("always other: balanc >= -9\n");
  await page.locator(".cm-lintRange-error").first().waitFor();
  await page.getByText("1 error", { exact: false }).first().waitFor();
  must(await page.locator("button.check").isDisabled(), "a model with errors is not checked");
  await picture("squiggle");
  await page.locator(".cm-lintRange-error").first().hover();
  await page.locator(".fix").first().click();
  await page.locator(".cm-lintRange-error").waitFor({ state: "detached" });
  must((await textOf()).includes("always other: balance >= -9"), "the text was not repaired");
});

await part("a check decides the claims again", async () => {
  await page.locator(".cm-content").press("Control+Enter");
  await verdict("other", "holds");
  await verdict("solvent", "fails");
  await page.locator(".verdicts .sign.fails").waitFor();
});

await part("completion offers names of the model", async () => {
  await typeAtEnd("always last: bal");
  await page.keyboard.press("Control+Space");
  await page.locator(".cm-tooltip-autocomplete li", { hasText: "balance" }).first().waitFor();
  // A list that has just opened does not take the key that was meant for the text.
  await new Promise((resolve) => setTimeout(resolve, 300));
  await page.keyboard.press("Enter");
  await page.keyboard.type(" <= 100000\n");
  must((await textOf()).includes("always last: balance <= 100000"), "the completion was not taken");
});

await part("the run is shown on the graph and step by step", async () => {
  await page.locator("button.check").click();
  await verdict("solvent", "fails");
  await page.locator('[data-claim="solvent"] .head').click();
  await page.getByRole("button", { name: "Show the run" }).click();
  await page.locator(".run .graph .place.now").first().waitFor();
  await page.locator(".run .timeline").focus();
  await page.keyboard.press("ArrowRight");
  await page.locator(".run .graph g.now[data-transitions]").first().waitFor();
  must((await page.locator(".run .place").first().textContent()).startsWith("Step 1"), "the step is named");
  must((await page.locator(".run td.changed").count()) > 0, "changes are marked");
  must((await page.locator(".mark-step").count()) > 0, "the transition is marked in the text");
  await picture("run");
  await page.keyboard.press("Home");
  must((await page.locator(".run .place").first().textContent()).startsWith("Step 0"), "Home is the start");
});

await part("an explanation marks what a proof rests on", async () => {
  await page.locator("#tab-claims").click();
  await page.locator('[data-claim="counted"] .head').click();
  await page.locator('[data-claim="counted"]').getByRole("button", { name: "Explain why" }).click();
  await page.locator(".mark-core").first().waitFor();
});

await part("transitions of the graph are taken by a click or a key", async () => {
  await page.locator("#tab-simulate").click();
  const freeze = page.locator(".simulate .graph g.enabled", { hasText: "freeze" }).first();
  await freeze.waitFor();
  await freeze.locator("text").last().click();
  await page.locator(".simulate .timeline th.on", { hasText: "1" }).waitFor();
  await page.locator(".simulate .graph g.enabled", { hasText: "thaw" }).first().focus();
  await page.keyboard.press("Enter");
  await page.locator(".simulate .timeline th.on", { hasText: "2" }).waitFor();
  await page.locator('.simulate form[data-action*="withdraw"] input').first().fill("51");
  await page.locator('.simulate form[data-action*="withdraw"] button').click();
  await page.getByText("False here: solvent").waitFor();
  await picture("simulate");
  await page.getByRole("button", { name: "Back" }).click();
  await page.locator(".simulate .timeline th.on", { hasText: "2" }).waitFor();
  await page.locator('.simulate form[data-action*="withdraw"] input').first().fill("nonsense");
  await page.locator('.simulate form[data-action*="withdraw"] button').click();
  await page.locator(".simulate .status .fails").waitFor();
});

await part("coverage is shown", async () => {
  await page.locator("#tab-coverage").click();
  await page.getByRole("button", { name: "Compute coverage" }).click();
  await page.locator(".coverage .meter").first().waitFor();
  must((await page.locator(".mark-covered").count()) > 0, "no part is shaded as covered");
  must((await page.locator(".mark-no-core").count()) > 0, "no part is shaded as in no core");
  must((await page.locator(".coverage .elements li").count()) > 0, "no part is listed");
});

await part("the model is written in another language", async () => {
  await page.getByRole("button", { name: "Export" }).click();
  const [written] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: "SMV" }).click(),
  ]);
  const text = readFileSync(await written.path(), "utf8");
  must(written.suggestedFilename() === "account.smv" && text.includes("MODULE main"), "this is not SMV");
});

let link = "";
await part("a link contains the model and not the token", async () => {
  await page.getByRole("button", { name: "Link", exact: true }).click();
  await page.locator(".notice").first().waitFor();
  link = await page.evaluate(() => navigator.clipboard.readText());
  must(link.includes("#model=") && !link.includes("token"), link);
});

await part("a second tab opens the link, and both work", async () => {
  const token = new URL(server.address).search;
  const other = await open(link.replace("/#", `/${token}#`));
  // A page opens the model when its session has begun, after the connection is open.
  const isThere = async () => (await textOf(other)).includes("always last: balance <= 100000");
  await until(isThere, "the model is not that of the link");
  await verdict("solvent", "fails", other);
  const lost = await browser.newPage();
  await lost.goto(link);
  await lost.getByLabel("The address").fill(server.address);
  await lost.getByRole("button").click();
  await lost.locator('html[data-connection="open"]').waitFor();
  await verdict("solvent", "fails", lost);
  await lost.close();
  await other.context().close();
});

await part("the file is saved, and never over changes from elsewhere", async () => {
  await page.keyboard.press("Control+s");
  await page.getByText("account.sts was saved").waitFor();
  must(readFileSync(file, "utf8").includes("always last"), "the file has the text");
  writeFileSync(file, "spec Changed\n");
  await typeAtEnd("// mine\n");
  await page.keyboard.press("Control+s");
  await page.getByText("was changed by another program").waitFor();
  must(readFileSync(file, "utf8") === "spec Changed\n", "the file was overwritten");
  await page.getByRole("button", { name: "Overwrite it" }).click();
  await until(() => readFileSync(file, "utf8").includes("// mine"), "the file was not overwritten");
});

await part("the server is killed and comes back: nothing is lost", async () => {
  server.child.kill("SIGKILL");
  await page.locator('html[data-connection="waiting"]').waitFor();
  await typeAtEnd("// while it was away\n");
  await picture("away");
  server = await serve(port);
  await page.locator('html[data-connection="open"]').waitFor();
  must((await textOf()).includes("// while it was away"), "the text was lost");
  await verdict("solvent", "fails");
  await page.reload();
  await page.locator('html[data-connection="open"]').waitFor();
  await until(async () => (await textOf()).includes("// while it was away"), "a reload lost the text");
  await verdict("solvent", "fails");
});

await part("a bug is fixed by hand", async () => {
  const fixed = (await textOf()).replace("amount <= balance + 1", "amount <= balance");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(fixed);
  await verdict("solvent", "holds");
});

await part("the keyboard leaves the text", async () => {
  await page.locator(".cm-content").focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  must(await page.evaluate(() => !document.activeElement.closest(".cm-editor")), "the focus is caught");
  await page.keyboard.press("Alt+1");
  must(await page.evaluate(() => document.activeElement.closest("#panel-claims") !== null), "Alt 1");
  // The list is drawn again at each verdict, and the keyboard stays where it is.
  await page.keyboard.press("Enter");
  const again = page.locator('[data-claim="solvent"]').getByRole("button", { name: "Check only this" });
  await again.focus();
  await page.keyboard.press("Enter");
  await page.locator(".spinner").first().waitFor({ state: "detached" });
  await verdict("solvent", "holds");
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  must((await focused()) === "Check only this", `a check moves the focus to ${await focused()}`);
  await page.keyboard.press("?");
  await page.locator("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
});

await part("it fits a phone, in the dark too", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const phone = await open(server.address, { viewport: { width: 360, height: 720 }, colorScheme });
    await phone.locator("#tab-claims").click();
    await verdict("solvent", "fails", phone).catch(() => verdict("solvent", "holds", phone));
    const width = await phone.evaluate(() => document.documentElement.scrollWidth);
    must(width <= 360, `the page is ${width} pixels wide`);
    await picture(`phone-${colorScheme}`, phone);
    await phone.context().close();
  }
});

await part("nothing is reported on the console", async () => {
  must(complaints.length === 0, complaints.join("\n"));
});

await browser.close();
server.child.kill("SIGINT");
await once(server.child, "exit");
console.log(failures === 0 ? "all is as it should be" : `${failures} parts failed`);
process.exit(failures === 0 ? 0 : 1);
