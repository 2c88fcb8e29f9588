// Bundles the extension, its web views and, with `--tests`, the tests; writes the grammars.
import * as esbuild from "esbuild";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const production = process.argv.includes("--production");

/** Writes the grammars as the files that package.json names. */
async function writeGrammars() {
  mkdirSync(join(root, "syntaxes"), { recursive: true });
  for (const language of ["sts", "lustre", "script"]) {
    const { default: grammar } = await import(`../grammars/${language}.mjs`);
    const path = join(root, "syntaxes", `${language}.tmLanguage.json`);
    writeFileSync(path, `${JSON.stringify(grammar, null, 2)}\n`);
  }
}

const common = {
  absWorkingDir: root,
  bundle: true,
  minify: production,
  sourcemap: production ? false : "linked",
  logLevel: "warning",
};

await writeGrammars();
await esbuild.build({
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  platform: "node",
  format: "cjs",
  target: "node18",
  external: ["vscode"],
});
await esbuild.build({
  ...common,
  entryPoints: ["src/webview/run.ts", "src/webview/simulator.ts"],
  outdir: "dist/webview",
  platform: "browser",
  format: "iife",
  target: "es2022",
});
if (process.argv.includes("--tests")) {
  // Tests that were removed must not be run.
  rmSync(join(root, "out"), { recursive: true, force: true });
  const tests = readdirSync(join(root, "tests"))
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `tests/${file}`);
  await esbuild.build({
    ...common,
    entryPoints: tests,
    outdir: "out/tests",
    platform: "node",
    format: "esm",
    outExtension: { ".js": ".mjs" },
    target: "node20",
    packages: "external",
    define: { "process.env.GANDER_EXTENSION_ROOT": JSON.stringify(root) },
  });
}
