// Snippets that are whole models must be models: gander reads them, if it was built.
import assert from "node:assert/strict";
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { repository, root } from "./paths";

/** A snippet with the default texts of its places. */
export function expand(body: string | string[]): string {
  let text = Array.isArray(body) ? body.join("\n") : body;
  const values = new Map<string, string>();
  for (let round = 0; round < 5; round++) {
    text = text.replace(/\$\{(\d+):([^{}]*)\}/g, (_, place: string, value: string) => {
      const inner = value.replace(/\$(\d+)/g, (_whole, n: string) => values.get(n) ?? "");
      values.set(place, inner);
      return inner;
    });
  }
  return text.replace(/\$\{?(\d+)\}?/g, (_, place: string) => values.get(place) ?? "");
}

/** The program: `GANDER` of the environment, or the one of the debug build. */
export function builtProgram(): string | null {
  const named = process.env.GANDER ?? join(repository, "target/debug/gander");
  return existsSync(named) ? named : null;
}

/** Records that a test was left out, as the tests of the workspace do. */
export function skip(name: string, why: string): void {
  const log = process.env.GANDER_SKIP_LOG;
  if (log) appendFileSync(log, `SKIPPED ${name}: ${why}\n`);
}

test("every snippet expands to text without places", () => {
  for (const file of ["sts", "lustre", "script"]) {
    const snippets = JSON.parse(readFileSync(join(root, `snippets/${file}.json`), "utf8"));
    for (const [name, { body, prefix, description }] of Object.entries<any>(snippets)) {
      assert.ok(prefix && description, name);
      assert.ok(!/\$\d|\$\{/.test(expand(body)), `${file}: ${name}: ${expand(body)}`);
    }
  }
});

test("snippets that are whole models are accepted", (context) => {
  const gander = builtProgram();
  if (!gander) {
    skip("vscode snippets", "target/debug/gander was not built");
    return context.skip("gander was not built");
  }
  const folder = mkdtempSync(join(tmpdir(), "gander-snippets-"));
  try {
    for (const [file, names, extension] of [
      ["sts", ["specification", "specification without nodes"], "sts"],
      ["lustre", ["node"], "lus"],
      ["script", ["script"], "script"],
    ] as const) {
      const snippets = JSON.parse(readFileSync(join(root, `snippets/${file}.json`), "utf8"));
      for (const name of names) {
        const model = join(folder, `model.${extension}`);
        writeFileSync(model, `${expand(snippets[name].body)}\n`);
        const run: SpawnSyncReturns<string> = spawnSync(gander, ["check", "--timeout", "60", model], { encoding: "utf8" });
        assert.equal(run.status, 0, `${name}: ${run.stdout}${run.stderr}`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
