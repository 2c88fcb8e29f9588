// Bundles the page into crates/gander-serve/assets and writes the hash of the sources beside it, which
// a test of that crate compares. `--check` only says whether the committed files are up to date.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const assets = join(here, "../../crates/gander-serve/assets");
const checkOnly = process.argv.includes("--check");

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

/** The SHA-256 of names and contents of all sources, in the order of their names. */
function sourceHash() {
  const files = [...filesBelow(join(here, "src")), ...filesBelow(join(here, "static"))];
  files.push(join(here, "package.json"), join(here, "package-lock.json"), join(here, "build.mjs"));
  const names = files.map((file) => relative(here, file).split("\\").join("/")).sort();
  const hash = createHash("sha256");
  for (const name of names) {
    const content = readFileSync(join(here, name));
    hash.update(`${name}\n${content.length}\n`);
    hash.update(content);
  }
  return hash.digest("hex");
}

/** The licences of all packages that are part of the bundle. */
function licences(inputs) {
  const packages = new Map();
  for (const input of Object.keys(inputs)) {
    const found = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) packages.set(found[1], join(here, "node_modules", found[1]));
  }
  const parts = [...packages.keys()].sort().map((name) => {
    const folder = packages.get(name);
    const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((f) => /^licen[cs]e(\.md|\.txt)?$/i.test(f));
    if (!file) throw new Error(`${name} has no licence file`);
    if (!["MIT", "BSD-3-Clause", "ISC", "Apache-2.0"].includes(about.license)) {
      throw new Error(`${name} has the licence ${about.license}`);
    }
    const text = readFileSync(join(folder, file), "utf8").trim();
    return `${name} ${about.version} (${about.license})\n\n${text}\n`;
  });
  const head = "The page of gander contains the following packages.\n";
  return [head, ...parts].join(`\n${"-".repeat(80)}\n\n`);
}

const outputs = new Map();
const bundle = async (entry, name) => {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    metafile: true,
    write: false,
    absWorkingDir: here,
    logLevel: "warning",
  });
  outputs.set(name, result.outputFiles[0].text);
  return result.metafile.inputs;
};

const inputs = await bundle("main.ts", "page.js");
await bundle("entrance.ts", "entrance.js");
await bundle("style.css", "page.css");
for (const name of ["page.html", "entrance.html", "icon.svg"]) {
  outputs.set(name, readFileSync(join(here, "static", name), "utf8"));
}
outputs.set("LICENCES.txt", licences(inputs));
const built = [...outputs].sort(([a], [b]) => (a < b ? -1 : 1));
const digest = createHash("sha256");
for (const [name, text] of built) digest.update(`${name}\n${Buffer.byteLength(text)}\n${text}`);
outputs.set("HASHES", `sources ${sourceHash()}\nbundle ${digest.digest("hex")}\n`);

mkdirSync(assets, { recursive: true });
for (const [name, text] of outputs) {
  const file = join(assets, name);
  if (!checkOnly) {
    writeFileSync(file, text);
    continue;
  }
  let committed = null;
  try {
    committed = readFileSync(file, "utf8");
  } catch {
    // Reported below.
  }
  if (committed !== text) {
    console.error(`${relative(process.cwd(), file)} is not what the sources give: npm run build`);
    process.exitCode = 1;
  }
}
for (const [name, text] of outputs) console.log(`${name}: ${Buffer.byteLength(text)} bytes`);
