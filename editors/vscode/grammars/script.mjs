// The grammar of scripts (docs/script.md, crates/gander-lang/src/script/lexer.rs and parser.rs).
import { grammar, name, region, rule, signs, words } from "./common.mjs";

export const headers = [
  "MAXSTEPS", "VARS", "INIT", "TRANS", "PROGRAM", "PROCESS", "REACH", "INF", "SAFE", "LIVENESS",
  "POSSIBLE", "DEADLOCK", "CHECK",
];
/** Words that cannot be names. */
export const reserved = ["true", "false", "const", "nondet", "proc", "int", "bool"];
export const operators = [
  "->", "==", "!=", "<=", ">=", "&&", "||", "~>", ">:", "..", "?", "=", "!", "&", "|", "<", ">",
  "+", "-", "*", "/", "%",
];

export default grammar("gander-script", "gander script", [
  rule(String.raw`//.*$`, "comment.line.double-slash"),
  region(String.raw`/\*`, String.raw`\*/`, "comment.block"),
  rule(String.raw`\b(PROCESS)\s+(${name})`, "", ["keyword.declaration", "entity.name.class"]),
  rule(
    String.raw`\b(REACH|SAFE|INF|LIVENESS|POSSIBLE|DEADLOCK|CHECK)[ \t]+(${name})(?=[ \t]*:)`,
    "",
    ["keyword.claim", "entity.name.tag"],
  ),
  rule(words(["REACH", "SAFE", "INF", "LIVENESS", "POSSIBLE", "DEADLOCK", "CHECK"]), "keyword.claim"),
  rule(words(headers), "keyword.declaration"),
  rule(String.raw`\b[AE](?:<>|\[\])`, "keyword.other.quantifier"),
  rule(words(["const", "nondet"]), "storage.modifier"),
  rule(String.raw`\b(proc)[ \t]+(${name})[ \t]*(=)[ \t]*(${name})`, "", [
    "keyword.declaration", "variable.other", "keyword.operator", "entity.name.class",
  ]),
  rule(words(["proc"]), "keyword.declaration"),
  rule(words(["int", "bool"]), "support.type"),
  rule(words(["true", "false"]), "constant.language"),
  rule(String.raw`\b(state)\b(?=[ \t]+${name})`, "", ["keyword.declaration"]),
  rule(words(["state", "steps"]), "variable.language"),
  rule(String.raw`\b\d+\b`, "constant.numeric"),
  rule(name, "variable.other"),
  signs(operators, "keyword.operator"),
  rule(String.raw`[{}()\[\]]`, "punctuation.bracket"),
  rule(String.raw`[,;:.]`, "punctuation.separator"),
  rule(String.raw`[^\s]`, "invalid.illegal"),
]);
