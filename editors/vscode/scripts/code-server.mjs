// Installs code-server (VS Code as a page) for the end-to-end test into target/code-server of the
// repository. Its own installation script fails without access to GitHub, because it fetches the
// program ripgrep there; so scripts are left out, and the modules that must be compiled are
// compiled one by one. Search and terminals may then be missing, which the test does not need.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const VERSION = "4.100.3";
const repository = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
const folder = join(repository, "target", "code-server");
const server = join(folder, "node_modules", "code-server");
const editor = join(server, "lib", "vscode");

function npm(cwd, ...words) {
  console.log(`npm ${words.join(" ")} (${cwd})`);
  return spawnSync("npm", words, { cwd, stdio: "inherit", timeout: 900_000 }).status === 0;
}

function fail(why) {
  console.error(why);
  process.exit(1);
}

/** Folders of modules below `modules` with a binding.gyp. */
function compiled(modules) {
  const scopes = readdirSync(modules).flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(modules, name)).map((inner) => join(name, inner)) : [name],
  );
  return scopes.filter((name) => existsSync(join(modules, name, "binding.gyp")));
}

mkdirSync(folder, { recursive: true });
if (!existsSync(join(folder, "package.json"))) {
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
}
if (!npm(folder, "install", "--ignore-scripts", "--no-save", `code-server@${VERSION}`)) {
  fail("code-server cannot be had");
}
if (!npm(editor, "install", "--ignore-scripts", "--omit=dev")) fail("its modules cannot be had");
for (const name of compiled(join(editor, "node_modules"))) npm(editor, "rebuild", name);
if (!npm(folder, "rebuild", "argon2")) fail("argon2 cannot be compiled");
const works = spawnSync(process.execPath, [join(server, "out/node/entry.js"), "--version"]);
if (works.status !== 0) fail("code-server does not start");
console.log("code-server is ready: npm run e2e");
