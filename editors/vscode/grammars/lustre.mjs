// The grammar of Lustre (docs/lustre.md, crates/gander-lang/src/lustre/lexer.rs). Words that are
// not in `reserved` can be names; the patterns say where they are words of the language.
import { grammar, region, rule, signs, words } from "./common.mjs";

const name = String.raw`[\p{L}\p{Nl}_~][\p{L}\p{Nl}\p{N}\p{M}\p{Pc}~]*(?:!(?!=)[\p{L}\p{N}_~]*)*`;

export const reserved = [
  "node", "function", "returns", "var", "let", "tel", "const", "type", "assert", "if", "then",
  "else", "not", "and", "or", "xor", "div", "mod", "pre", "true", "false", "int", "bool", "real",
  "subrange", "of", "struct", "enum", "condact",
];
export const annotations = ["PROPERTY", "MAIN", "IVC", "REALIZABLE"];
export const operators = [
  ":=", "::", "..", ".%", "=", "<>", "<", "<=", ">", ">=", "+", "++", "-", "*", "/", "->", "=>",
  "==>", "&&", "|", "||", "!", "^", "#", "@", "'", "?", "!=", "==",
];

/** What may stand behind a word that takes an operand. */
const operand = String.raw`(?=\s*(?:[\p{L}_~\d(\[!'#-]|::))(?!\s*(?:->|and\b|or\b|xor\b|div\b|mod\b|then\b|else\b|fby\b|in\b))`;

export default grammar("lustre", "Lustre", [
  rule(String.raw`--%(?:${annotations.join("|")})\b`, "keyword.annotation"),
  rule(String.raw`--!(?:PROPERTY|MAIN)\b`, "keyword.annotation"),
  rule(String.raw`(?:\(\*|/\*)@contract\b`, "keyword.annotation"),
  rule(String.raw`(?:\(\*|/\*)[%!](?:PROPERTY|MAIN)\b`, "keyword.annotation"),
  rule(String.raw`--.*$`, "comment.line.double-dash"),
  rule(String.raw`//.*$`, "comment.line.double-slash"),
  region(String.raw`\(\*`, String.raw`\*\)`, "comment.block"),
  region(String.raw`/\*`, String.raw`\*/`, "comment.block"),
  rule(String.raw`\*\)|\*/`, "keyword.annotation"),
  region('"', '"', "string.quoted.double", [
    rule(String.raw`\\.`, "constant.character.escape"),
  ]),
  rule(String.raw`\b(include)\b(?=\s*")`, "", ["keyword.declaration"]),
  rule(
    String.raw`\b(?:(opaque|transparent)\s+)?(node|function)\s+(?:(rec)\s+)?(?:(imported)\s+)?(${name})`,
    "",
    [
      "storage.modifier", "keyword.declaration", "storage.modifier", "storage.modifier",
      "entity.name.function",
    ],
  ),
  rule(String.raw`\b(contract)\s+(${name})(?=\s*[(<])`, "", [
    "keyword.declaration", "entity.name.function",
  ]),
  rule(String.raw`\b(datatype)\s+(${name})(?=\s*[=<])`, "", [
    "keyword.declaration", "entity.name.type",
  ]),
  rule(String.raw`\b(type)\s+(${name})`, "", ["keyword.declaration", "entity.name.type"]),
  rule(String.raw`\b(mode)\s+(${name})(?=\s*\()`, "", ["keyword.declaration", "entity.name.tag"]),
  rule(String.raw`\b(import)\s+(${name})(?=\s*[(<])`, "", [
    "keyword.declaration", "entity.name.function",
  ]),
  rule(String.raw`\b(?:(weakly)\s+)?(assume|guarantee)\b(?=\s*["\p{L}_\d(!\[#'-])`, "", [
    "storage.modifier", "keyword.claim",
  ]),
  rule(String.raw`\b(require|ensure)\b(?=\s*["\p{L}_\d(!\[#'-])`, "", ["keyword.claim"]),
  rule(String.raw`\b(check)\b(?:\s+(reachable|invariant)\b(?=\s*["\p{L}_\d(!\[#'-]))?(?=\s*["\p{L}_\d(!\[#'-])`, "", [
    "keyword.claim", "keyword.claim",
  ]),
  rule(String.raw`\b(from|within|at)\b(?=\s+\d)`, "", ["keyword.claim"]),
  rule(String.raw`\b(provided)\b(?=\s*[\p{L}_\d(!\[#'-])`, "", ["keyword.claim"]),
  rule(words(["node", "function", "returns", "var", "let", "tel", "const", "type"]), "keyword.declaration"),
  rule(words(["assert"]), "keyword.claim"),
  rule(words(["if", "then", "else", "elsif", "elseif", "fi"]), "keyword.control"),
  rule(String.raw`\b(restart|activate)\b(?=\s+${name}\s*(?:<<?[^;]*>\s*)?every\b)`, "", [
    "keyword.control",
  ]),
  rule(String.raw`\b(restart|activate)\b(?=\s+${name}\s*@)`, "", ["keyword.control"]),
  rule(words(["every"]), "keyword.control"),
  rule(String.raw`\b(initial)\s+(default)\b`, "", ["keyword.control", "keyword.control"]),
  rule(String.raw`\b(merge)\b(?=\s*(?:\(|${name}\s*\())`, "", ["keyword.control"]),
  rule(String.raw`\b(match)\b(?=[^;]*\bwith\b)|\b(match)\b(?=\s*${name}\s*$)`, "", [
    "keyword.control", "keyword.control",
  ]),
  rule(String.raw`\b(with)\b`, "", ["keyword.control"]),
  rule(String.raw`\b(when)\b`, "", ["keyword.control"]),
  rule(String.raw`\b(cond)\b(?=\s*(?:\||$))`, "", ["keyword.control"]),
  rule(String.raw`\b(otherwise)\b`, "", ["keyword.control"]),
  rule(String.raw`\b(frame)\b(?=\s*\()`, "", ["keyword.control"]),
  rule(String.raw`\b(end)\b(?!\s*[=,:.\[])`, "", ["keyword.control"]),
  rule(String.raw`\b(current|last)\b${operand}`, "", ["keyword.operator.word"]),
  rule(words(["pre", "condact"]), "keyword.operator.word"),
  rule(words(["fby"]), "keyword.operator.word"),
  rule(words(["not", "and", "or", "xor", "div", "mod", "lsh", "rsh"]), "keyword.operator.word"),
  rule(words(["true", "false"]), "constant.language"),
  rule(String.raw`\b(forall|exists)\b(?=\s*\()`, "", ["keyword.other.quantifier"]),
  rule(String.raw`\b(any|choose)\b(?=\s*[@{])`, "", ["keyword.other.any"]),
  rule(String.raw`\b(subtype)\b(?=\s*\{)`, "", ["support.type"]),
  rule(String.raw`\b(?:bool|int|real|subrange|struct|enum|of|u?int(?:8|16|32|64))\b`, "support.type"),
  rule(String.raw`\b(sint|uint)\b(?=\s*[<@])`, "", ["support.type"]),
  rule(String.raw`\b(floor)\b(?=\s*\()`, "", ["support.function"]),
  rule(
    String.raw`\b(?:0x[0-9A-Fa-f]*\.?[0-9A-Fa-f]*(?:[pP][+-]?\d+)?|0b[01]+|\d+\.\d+(?:[eE][+-]?\d+)?|\d+\.?[eE][+-]?\d+|\d+)\b|\.\d+(?:[eE][+-]?\d+)?\b`,
    "constant.numeric",
  ),
  rule(String.raw`${name}(?=\s*\()`, "entity.name.function"),
  rule(name, "variable.other"),
  signs(operators, "keyword.operator"),
  rule(String.raw`[{}()\[\]]`, "punctuation.bracket"),
  rule(String.raw`[,;:.]`, "punctuation.separator"),
  rule(String.raw`[^\s]`, "invalid.illegal"),
]);
