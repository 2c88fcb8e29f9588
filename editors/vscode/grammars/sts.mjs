// The grammar of `.sts` (docs/language.md, crates/gander-lang/src/sts/lexer.rs). Only `reserved`
// are words that cannot be names; every other word of the language is one by its position, which
// the patterns below describe by what stands behind it.
import { grammar, name, region, rule, signs, words } from "./common.mjs";

export const reserved = [
  "and", "or", "not", "implies", "iff", "div", "mod", "if", "then", "else", "true", "false",
  "forall", "exists", "in", "when",
];
/** Words that begin an item of the top level. */
export const items = [
  "spec", "system", "enum", "record", "data", "const", "var", "input", "define", "assume", "start",
  "node", "final", "step", "always", "reachable", "eventually", "possible", "exists", "no", "infinite", "can",
  "satisfiable", "completable", "fair", "weakly", "strongly", "allow",
];
export const operators = [
  ":=", "==", "!=", "<=", ">=", "<", ">", "++", "+", "-", "*", "/", "%", "^", "!", "&&", "||",
  "->", "<->", "'", "=", "..",
];
export const functions = [
  "min", "max", "abs", "to_real", "to_int", "extract", "zero_extend", "sign_extend", "int_to_bv",
  "concat", "ubv_to_int", "sbv_to_int", "bvneg", "bvadd", "bvsub", "bvmul", "bvudiv", "bvurem",
  "bvsdiv", "bvsrem", "bvsmod", "bvnot", "bvand", "bvor", "bvxor", "bvshl", "bvlshr", "bvashr",
  "bvult", "bvule", "bvugt", "bvuge", "bvslt", "bvsle", "bvsgt", "bvsge",
];

const kinds = ["always", "reachable", "eventually", "possible", "assume", "fair"];
const clauses = ["leads", "with", "under", "sync", "to", "where", "of"];
/** A name that is no word of the language behind a word that begins a declaration. */
const other = String.raw`(?!(?:${[...reserved, ...clauses].join("|")})\b)${name}`;

const escape = [
  rule(String.raw`\\(?:[ntr\\"]|u\{[0-9A-Fa-f]{1,6}\})`, "constant.character.escape"),
  rule(String.raw`\\.`, "invalid.illegal.escape"),
];

const comments = [
  rule(String.raw`//.*$`, "comment.line.double-slash"),
  region(String.raw`/\*`, String.raw`\*/`, "comment.block"),
];

const declarations = [
  rule(String.raw`\b(spec|system)[ \t]+(${name})`, "", [
    "keyword.declaration", "entity.name.type",
  ]),
  rule(String.raw`\b(enum|record|data)[ \t]+(${name})(?=\s*\{)`, "", [
    "keyword.declaration", "entity.name.type.enum",
  ]),
  rule(String.raw`\b(final)[ \t]+(when)\b`, "", ["keyword.declaration", "keyword.control"]),
  rule(String.raw`\b(final)[ \t]+(node)[ \t]+(${name})`, "", [
    "keyword.declaration", "keyword.declaration", "entity.name.class",
  ]),
  rule(String.raw`\b(node)[ \t]+(${other})`, "", ["keyword.declaration", "entity.name.class"]),
  rule(String.raw`\b(start)\b(?:[ \t]+(${name}))?(?=\s*(?:->|\{))`, "", [
    "keyword.declaration", "entity.name.function",
  ]),
  rule(String.raw`\b(step)[ \t]+(${name})[ \t]*(:)[ \t]*(${name})`, "", [
    "keyword.declaration", "entity.name.label", "punctuation.separator", "entity.name.function",
  ]),
  rule(String.raw`\b(step)[ \t]+(${other})`, "", ["keyword.declaration", "entity.name.function"]),
  rule(String.raw`\b(define)[ \t]+(${other})`, "", ["keyword.declaration", "entity.name.function"]),
  rule(String.raw`\b(const|var|input)[ \t]+(${other})(?=[ \t]*[,:=])`, "", [
    "keyword.declaration", "variable.other",
  ]),
  rule(String.raw`\b(allow)[ \t]+(?=[A-Z]\d)`, "", ["keyword.declaration"]),
  rule(String.raw`\b[EW]\d{4}\b`, "constant.other.code"),
  rule(String.raw`\b(weakly|strongly)[ \t]+(fair)\b`, "", [
    "keyword.declaration", "keyword.declaration",
  ]),
  rule(String.raw`\b(sync)[ \t]+(${name})`, "", ["keyword.declaration", "entity.name.function"]),
  rule(String.raw`\b(invariant)\b(?!\s*(?:->|\{|\}|when\b|$))(?![ \t]*\([ \t]*${name}[ \t]*:)`, "", [
    "keyword.declaration",
  ]),
];

const claimWords = String.raw`always[ \t]+eventually|always[ \t]+possible|exists[ \t]+always|always|reachable|eventually|possible|assume|fair`;
const claims = [
  rule(String.raw`\b(no)[ \t]+(deadlock|sinkhole)\b`, "", ["keyword.claim", "keyword.claim"]),
  rule(String.raw`\b(infinite)[ \t]+(run)\b`, "", ["keyword.claim", "keyword.claim"]),
  rule(String.raw`\b(can)[ \t]+(enable)\b`, "", ["keyword.claim", "keyword.claim"]),
  rule(String.raw`\b(satisfiable)[ \t]+(start)\b`, "", ["keyword.claim", "keyword.claim"]),
  rule(String.raw`\b(completable)[ \t]+(?=${other})`, "", ["keyword.claim"]),
  rule(String.raw`\b(${claimWords})[ \t]+(${name})[ \t]*(:)(?!=)`, "", [
    "keyword.claim", "entity.name.tag", "punctuation.separator",
  ]),
  rule(String.raw`\b(${claimWords})\b(?=[ \t]*(?::(?!=)|[\d(!]|[ \t](?!when\b|and\b|or\b)${name}))`, "", [
    "keyword.claim",
  ]),
  rule(String.raw`\b(leads)[ \t]+(to)\b`, "", ["keyword.operator.word", "keyword.operator.word"]),
  rule(String.raw`\b(under)[ \t]+(fairness)\b`, "", ["keyword.claim", "keyword.claim"]),
  rule(String.raw`\b(under)\b(?=[ \t]+${name})`, "", ["keyword.claim"]),
  rule(String.raw`(?<=[\p{L}\p{N}_\])])[ \t]+(with)\b(?=[ \t]+[^\s:=<>+*/.,;)\]}'])`, "", [
    "keyword.claim",
  ]),
  rule(String.raw`^[ \t]*(with)\b(?=[ \t]+[^\s:=<>+*/.,;)\]}'])`, "", ["keyword.claim"]),
];

const expressions = [
  rule(words(["true", "false"]), "constant.language"),
  rule(words(["if", "then", "else", "when"]), "keyword.control"),
  rule(words(["and", "or", "not", "implies", "iff", "div", "mod", "in"]), "keyword.operator.word"),
  rule(words(["forall", "exists"]), "keyword.other.quantifier"),
  rule(String.raw`\b(count|sum)\b(?=[ \t]+${name})`, "", ["keyword.other.quantifier"]),
  rule(String.raw`\b(where)\b(?=[ \t]+[\p{L}_(])`, "", ["keyword.other.quantifier"]),
  rule(String.raw`\b(to)\b(?=[ \t]*\()`, "", ["keyword.declaration"]),
  rule(String.raw`\b(any)\b(?=[ \t]+${other})`, "", ["keyword.other.any"]),
  rule(String.raw`\b(array)\b(?=[ \t]*\[)`, "", ["support.type"]),
  rule(String.raw`\b(list)\b(?=[ \t]*\[|[ \t]+of\b)`, "", ["support.type"]),
  rule(String.raw`(\])[ \t]*(of)\b`, "", ["punctuation.bracket", "support.type"]),
  rule(String.raw`\b(?:bool|int|real|string|bits[1-9]\d*)\b`, "support.type"),
  rule(String.raw`\b(tau|internal)\b(?=\s*(?:->|when\b|\{|\(|$))`, "", ["support.constant.gate"]),
  rule(String.raw`(?:${words(functions)})(?=[ \t]*\()`, "support.function"),
  rule(String.raw`\b\d[\d_]*(?:\.\d[\d_]*)?\b`, "constant.numeric"),
  rule(String.raw`(${name})[ \t]*(:)(?!=)(?=[ \t]*${name}[ \t]*(?:\(|->|when\b|\{|$))`, "", [
    "entity.name.label", "punctuation.separator",
  ]),
  rule(String.raw`${name}(?=\()`, "entity.name.function"),
  rule(name, "variable.other"),
  signs(operators, "keyword.operator"),
  rule(String.raw`[{}()\[\]]`, "punctuation.bracket"),
  rule(String.raw`[,;:.]`, "punctuation.separator"),
  rule(String.raw`[^\s]`, "invalid.illegal"),
];

export default grammar("sts", "gander transition system", [
  ...comments,
  region('"', String.raw`"|$`, "string.quoted.double", escape),
  ...declarations,
  ...claims,
  ...expressions,
]);

// `kinds` documents which words begin a claim about states; the test compares it with the parser.
export { kinds };
