// The grammars beside the corpus: a separate scanner, written from the documentation, cuts every
// model into comments, strings, words and operators, and each of them must have the right scope.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

import { repository, root } from "./paths";
import { type Kind, type Scanned, scan } from "./scanner";

// @ts-expect-error the grammars are plain modules
import * as lustre from "../grammars/lustre.mjs";
// @ts-expect-error the grammars are plain modules
import * as script from "../grammars/script.mjs";
// @ts-expect-error the grammars are plain modules
import * as sts from "../grammars/sts.mjs";

const require = createRequire(import.meta.url);
const wasm = readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
const ready = oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length));

const registry = new textmate.Registry({
  onigLib: ready.then(() => ({
    createOnigScanner: (patterns: string[]) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text: string) => new oniguruma.OnigString(text),
  })),
  loadGrammar: async (scope: string) => {
    const language = { "source.sts": "sts", "source.lustre": "lustre" }[scope] ?? "script";
    const path = join(root, "syntaxes", `${language}.tmLanguage.json`);
    return textmate.parseRawGrammar(readFileSync(path, "utf8"), path);
  },
});

/** The scopes of every character of a text, line by line; the last scope is the innermost. */
async function scopesOf(scope: string, text: string): Promise<string[][][]> {
  const grammar = await registry.loadGrammar(scope);
  assert(grammar);
  let stack = textmate.INITIAL;
  return text.split("\n").map((line) => {
    const result = grammar.tokenizeLine(line, stack);
    stack = result.ruleStack;
    const scopes: string[][] = [];
    for (const token of result.tokens) {
      for (let at = token.startIndex; at < token.endIndex; at++) scopes[at] = token.scopes;
    }
    return scopes;
  });
}

interface Language {
  name: "sts" | "lustre" | "script";
  scope: string;
  extensions: string[];
  reserved: string[];
}

const languages: Language[] = [
  { name: "sts", scope: "source.sts", extensions: [".sts"], reserved: sts.reserved },
  { name: "lustre", scope: "source.lustre", extensions: [".lus", ".ec"], reserved: lustre.reserved },
  {
    name: "script",
    scope: "source.gander-script",
    extensions: [".script", ".umc"],
    reserved: [...script.reserved, ...script.headers],
  },
];

const word = /^(?:keyword|constant\.language|support|storage|variable\.language)\b/;
const expected: Record<Kind, RegExp> = {
  comment: /^comment\b/,
  string: /^(?:string|constant\.character)\b/,
  number: /^constant\.numeric\b/,
  annotation: /^keyword\.annotation\b/,
  word: /^(?!source)/,
  operator: /^(?:keyword\.operator|punctuation|keyword\.other\.quantifier|keyword\.annotation)\b/,
  bracket: /^(?:punctuation|keyword\.other\.quantifier)\b/,
};

function* models(language: Language): Generator<[string, string]> {
  for (const folder of [`corpus/${language.name}`, "examples"]) {
    for (const entry of readdirSync(join(repository, folder), { recursive: true, withFileTypes: true })) {
      // Files in `error` have words and signs that mean nothing.
      const wrong = entry.parentPath.includes("/error");
      if (entry.isFile() && !wrong && language.extensions.some((e) => entry.name.endsWith(e))) {
        const path = join(entry.parentPath, entry.name);
        yield [path, readFileSync(path, "utf8").replace(/\r\n/g, "\n").replace(/^\uFEFF/, "")];
      }
    }
  }
}

/** What is wrong with the scopes of a text. */
async function problems(language: Language, text: string): Promise<string[]> {
  const scopes = await scopesOf(language.scope, text);
  const found: string[] = [];
  const check = (token: Scanned, pattern: RegExp) => {
    for (let at = token.column; at < token.column + token.text.length; at++) {
      const here = scopes[token.line]![at] ?? [];
      // Blanks inside of comments need no scope of their own.
      const last = here.at(-1) ?? "";
      if (/\s/.test(token.text[at - token.column]!)) continue;
      const good = here.some((scope) => pattern.test(scope)) && !last.startsWith("invalid");
      if (!good) {
        found.push(`line ${token.line + 1}: ${token.kind} \`${token.text}\` has the scope ${last}`);
        return;
      }
    }
  };
  for (const token of scan(language.name, text)) {
    const reserved = token.kind === "word" && language.reserved.includes(token.text);
    check(token, reserved || token.keyword ? word : expected[token.kind]);
  }
  return found;
}

for (const language of languages) {
  test(`every token of the ${language.name} models has its scope`, async () => {
    let files = 0;
    const wrong: string[] = [];
    for (const [path, text] of models(language)) {
      files++;
      for (const problem of await problems(language, text)) wrong.push(`${path}: ${problem}`);
    }
    assert.ok(files > 20, `only ${files} files were found`);
    assert.deepEqual(wrong.slice(0, 20), [], `${wrong.length} in all`);
  });
}

test("a word that is no keyword to the grammar is found", async () => {
  const [language] = languages as [Language];
  const text = "spec S\nvar x: int\nstart { x == 0 }\nalways p: x >= 0 and x <= 1\n";
  assert.deepEqual(await problems(language, text), []);
  const wrong = await problems({ ...language, reserved: [...language.reserved, "x"] }, text);
  assert.ok(wrong.length > 0);
});

test("words of the language are no keywords where they are names", async () => {
  const text = "var start: int\nstart { start == 0 }\nalways always: start == 0\n";
  const scopes = await scopesOf("source.sts", text);
  assert.match(scopes[0]![4]!.at(-1)!, /^variable/);
  assert.match(scopes[1]![0]!.at(-1)!, /^keyword/);
  assert.match(scopes[1]![8]!.at(-1)!, /^variable/);
  assert.match(scopes[2]![0]!.at(-1)!, /^keyword/);
  assert.match(scopes[2]![7]!.at(-1)!, /^entity/);
});

/** The words of a constant of the Rust sources. */
function wordsOf(file: string, begin: RegExp, end: string): string[] {
  const text = readFileSync(join(repository, "crates/gander-lang/src", file), "utf8");
  const at = text.search(begin);
  assert.ok(at >= 0, `${file} has no ${begin}`);
  const part = text.slice(at, text.indexOf(end, at));
  return [...part.matchAll(/"([A-Za-z_]+)"/g)].map((match) => match[1]!).sort();
}

test("the grammars know the words of the parsers", () => {
  const sorted = (list: string[]) => [...list].sort();
  assert.deepEqual(sorted(sts.reserved), wordsOf("sts/syntax.rs", /RESERVED: &\[&str\]/, "];"));
  assert.deepEqual(sorted(sts.items), wordsOf("sts/parser/items.rs", /ITEM_WORDS: &\[&str\]/, "];"));
  assert.deepEqual(sorted(script.headers), wordsOf("script/parser.rs", /HEADERS: &\[&str\]/, "];"));
  const lustreWords = wordsOf("lustre/parser/mod.rs", /pub fn is_reserved/, "\n}");
  assert.deepEqual(sorted(lustre.reserved), lustreWords);
  const annotations = wordsOf("lustre/lexer.rs", /const ANNOTATIONS/, "];");
  assert.deepEqual(sorted(lustre.annotations), annotations);
});

test("the grammars know the operators of the lexers", () => {
  const signs = (file: string, pattern: RegExp) => {
    const text = readFileSync(join(repository, "crates/gander-lang/src", file), "utf8");
    return [...text.matchAll(pattern)].map((match) => match[1]!);
  };
  const scriptSigns = readFileSync(
    join(repository, "crates/gander-lang/src/script/lexer.rs"),
    "utf8",
  ).match(/const SIGNS[^=]*= &\[(.*?)\n\];/s)![1]!;
  const all = [...scriptSigns.matchAll(/"([^"]+)"/g)].map((match) => match[1]!);
  const known = new Set([...script.operators, ..."{}()[],;:."]);
  assert.ok(all.length > 20);
  assert.deepEqual(all.filter((sign) => !known.has(sign)), []);
  // Operators of two signs in the lexers of `.sts` and Lustre: `b'<' if next == b'=' => (K::…, 2)`.
  for (const [file, operators] of [
    ["sts/lexer.rs", sts.operators],
    ["lustre/lexer.rs", lustre.operators],
  ] as const) {
    const pairs = [
      ...readFileSync(join(repository, "crates/gander-lang/src", file), "utf8").matchAll(
        /b'(.)' if next == b'(.)' => \((?:K::)\w+, 2\)/g,
      ),
    ].map((match) => match[1]! + match[2]!);
    assert.ok(pairs.length > 8, file);
    const unknown = pairs.filter((pair) => !operators.includes(pair));
    assert.deepEqual(unknown, [], file);
  }
  assert.deepEqual(signs("sts/lexer.rs", /starts_with\("(<->)"\)/g), ["<->"]);
});
