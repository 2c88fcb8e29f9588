// Builds the extension and packs it as gander-VERSION.vsix.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const target = join(root, `gander-${version}.vsix`);

function run(...words) {
  const { status } = spawnSync(process.execPath, words, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

rmSync(join(root, "dist"), { recursive: true, force: true });
rmSync(target, { force: true });
run(join(root, "scripts/build.mjs"), "--production");
// Everything that runs is bundled, so no dependencies are packed.
run(join(root, "node_modules/@vscode/vsce/vsce"), "package", "--no-dependencies", "--out", target);
if (!existsSync(target)) {
  console.error("no package was written");
  process.exit(1);
}
