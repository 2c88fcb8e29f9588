// package.json beside the code: commands, settings, files.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { root } from "./paths";

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { contributes } = manifest;

function sources(folder: string): string {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .join("\n");
}

test("every command of the package is registered", () => {
  const code = sources("src");
  for (const { command } of contributes.commands) {
    assert.ok(code.includes(`command("${command.replace("gander.", "")}"`), command);
  }
  const known = contributes.commands.map((c: { command: string }) => c.command);
  for (const items of Object.values(contributes.menus) as { command: string }[][]) {
    for (const { command } of items) assert.ok(known.includes(command), command);
  }
});

test("every setting is read, and every setting that is read is declared", () => {
  const code = sources("src");
  const declared = Object.keys(contributes.configuration.properties).map((name) => name.replace("gander.", ""));
  const read = [...code.matchAll(/(?:all|getConfiguration\("gander"\))\.get\("(\w+)"/g)].map((m) => m[1]!);
  assert.deepEqual([...new Set(read)].sort(), [...declared].sort());
});

test("every file that the package names exists", () => {
  const files = [
    ...contributes.languages.map((l: { configuration: string }) => l.configuration),
    ...contributes.grammars.map((g: { path: string }) => g.path),
    ...contributes.snippets.map((s: { path: string }) => s.path),
    contributes.viewsContainers.activitybar[0].icon,
    manifest.main,
  ];
  for (const file of files) assert.ok(existsSync(join(root, file)), file);
  for (const mark of ["holds", "fails", "unknown", "vacuous"]) {
    assert.ok(existsSync(join(root, "media", `${mark}.svg`)), mark);
  }
});

test("a workspace cannot say which program runs", () => {
  assert.equal(contributes.configuration.properties["gander.path"].scope, "machine");
  assert.ok(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations.includes("gander.path"));
});

test("language configurations are JSON, and their patterns are regular expressions", () => {
  for (const { configuration } of contributes.languages) {
    const parsed = JSON.parse(readFileSync(join(root, configuration), "utf8"));
    new RegExp(parsed.wordPattern, "u");
    for (const pattern of Object.values(parsed.indentationRules)) new RegExp(pattern as string);
    assert.ok(parsed.brackets.length === 3 && parsed.comments.lineComment);
  }
});

test("indentation goes in after an open bracket and out at its end", () => {
  for (const [file, opening, closing, plain] of [
    ["sts", "node Open {", "}", "always p: x == 0"],
    ["lustre", "let", "tel", "  x = 0;"],
    ["script", "VARS:", "REACH: x == 1", "  x = x + 1;"],
  ] as const) {
    const { indentationRules } = JSON.parse(readFileSync(join(root, `languages/${file}.json`), "utf8"));
    const [increase, decrease] = [
      new RegExp(indentationRules.increaseIndentPattern), new RegExp(indentationRules.decreaseIndentPattern),
    ];
    assert.ok(increase.test(opening) && !increase.test(plain), file);
    assert.ok(decrease.test(closing) && !decrease.test(plain), file);
  }
});
