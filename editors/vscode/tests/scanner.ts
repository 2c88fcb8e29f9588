// Cuts models into tokens for the tests of the grammars. Written from docs/language.md,
// docs/lustre.md and docs/script.md, and independent of the grammars.

export type Kind = "comment" | "string" | "number" | "word" | "operator" | "bracket" | "annotation";

/** A part of a token on one line. */
export interface Scanned {
  kind: Kind;
  text: string;
  line: number;
  column: number;
  /** The word begins a declaration or claim, so it is a keyword although it could be a name. */
  keyword: boolean;
}

type Rule = [Kind, RegExp];

const blocks: Record<string, Rule[]> = {
  sts: [
    ["comment", /\/\/.*/y],
    ["comment", /\/\*[^]*?\*\//y],
    ["string", /"(?:\\.|[^"\\])*"/y],
    ["number", /\d[\d_]*(?:\.\d[\d_]*)?/y],
    ["word", /[\p{L}_][\p{L}\p{N}\p{M}_]*/uy],
    ["operator", /<->|:=|==|!=|<=|>=|\+\+|&&|\|\||->|\.\.|[<>+\-*/%^!'=,;:.]/y],
    ["bracket", /[{}()[\]]/y],
  ],
  lustre: [
    ["annotation", /--%(?:PROPERTY|MAIN|IVC|REALIZABLE)\b|--!(?:PROPERTY|MAIN)\b/y],
    ["annotation", /(?:\(\*|\/\*)(?:@contract|[%!](?:PROPERTY|MAIN)\b)|\*\)|\*\//y],
    ["comment", /(?:--|\/\/).*/y],
    ["comment", /\(\*[^]*?\*\)|\/\*[^]*?\*\//y],
    ["string", /"(?:\\.|[^"\\])*"/y],
    ["number", /0x[0-9a-fA-F]*\.?[0-9a-fA-F]*(?:[pP][+-]?\d+)?|0b[01]+/y],
    ["number", /\d+\.\d+(?:[eE][+-]?\d+)?|\d+\.?[eE][+-]?\d+|\d+|\.\d+(?:[eE][+-]?\d+)?/y],
    ["word", /[\p{L}_~](?:[\p{L}\p{N}\p{M}_~]|!(?!=))*/uy],
    ["operator", /==>|:=|::|\.\.|\.%|<>|<=|>=|=>|->|&&|\|\||\+\+|[=<>+\-*/!^#@'?|,;:.]/y],
    ["bracket", /[{}()[\]]/y],
  ],
  script: [
    ["comment", /\/\/.*/y],
    ["comment", /\/\*[^]*?\*\//y],
    ["number", /\d+/y],
    ["word", /[\p{L}_][\p{L}\p{N}\p{M}_]*/uy],
    ["operator", /->|==|!=|<=|>=|&&|\|\||~>|>:|\.\.|[?=!&|<>+\-*/%,;:.]/y],
    ["bracket", /[{}()[\]]/y],
  ],
};

/** Words of `.sts` that begin a declaration at the beginning of a line, with what follows them. */
const items =
  /^\s*(?:(?:spec|system|enum|const|var|input|define|node|step|weakly|strongly)\s+(?!when\b)[\p{L}_]|start\s*(?:->|\{)|start\s+[\p{L}_][\p{L}\p{N}_]*\s*(?:->|\{)|no\s+(?:deadlock|sinkhole)|final\s+(?:node|when)|can\s+enable|infinite\s+run|satisfiable\s+start|exists\s+always|(?:always|reachable|eventually|possible)\s+[\p{L}_][\p{L}\p{N}_]*\s*:[^=])/u;
/** Words of Lustre that begin a line of a contract or a check. */
const clauses =
  /^\s*(?:(?:assume|guarantee|require|ensure)\s+(?:"|\()|contract\s+\w+\s*\(|include\s+"|check\s+"|mode\s+\w+\s*\(|datatype\s+\w+\s*=)/;

/** Every token that is no layout. */
export function* scan(language: string, text: string): Generator<Scanned> {
  let [at, line, begin] = [0, 0, 0];
  while (at < text.length) {
    const c = text[at]!;
    if (/\s/.test(c)) {
      at++;
      if (c === "\n") {
        line++;
        begin = at;
      }
      continue;
    }
    const [kind, token] = next(language, text, at);
    const first = text.slice(begin, at).trim() === "";
    const end = text.indexOf("\n", begin);
    const whole = text.slice(begin, end < 0 ? text.length : end);
    const pattern = language === "sts" ? items : clauses;
    const keyword = language !== "script" && kind === "word" && first && pattern.test(whole);
    for (const part of token.split("\n")) {
      if (part !== "") yield { kind, text: part, line, column: at - begin, keyword };
      at += part.length + 1;
      line++;
      begin = at;
    }
    // The last part ends no line.
    line--;
    at--;
    begin = text.lastIndexOf("\n", at - 1) + 1;
  }
}

function next(language: string, text: string, at: number): [Kind, string] {
  for (const [kind, pattern] of blocks[language]!) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) return [kind, match[0]];
  }
  throw new Error(`no token at ${JSON.stringify(text.slice(at, at + 20))}`);
}
