// The languages of models: names, and colours while typing.

import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import type { StreamParser, StringStream } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";

export interface ModelLanguage {
  /** Identifies the language. */
  id: string;
  /** The ending of file names. */
  extension: string;
  label: string;
  /** The name of the language in `gander export --to`; none if it is not written. */
  format?: string;
  support: Extension;
}

interface Words {
  keywords: string;
  types: string;
  constants?: string;
  line: RegExp;
  block?: [string, string];
  /** Words may contain these characters beside letters and digits. */
  word?: RegExp;
  operators?: RegExp;
  /** Comments that are annotations. */
  annotation?: RegExp;
}

interface State {
  inBlock: boolean;
  /** The word before, for names that are defined. */
  before: string;
}

function highlighter(name: string, words: Words): Extension {
  const set = (list = "") => new Set(list.split(/\s+/).filter(Boolean));
  const keywords = set(words.keywords);
  const types = set(words.types);
  const constants = set(words.constants ?? "true false");
  const word = words.word ?? /^[\p{L}_~][\p{L}\p{N}_~']*/u;
  const operators = words.operators ?? /^(->|<->|:=|==|!=|<=|>=|=>|<>|[-+*\/%<>=!&|?:^])/;
  const defines = set("spec node final var input const enum step start always reachable system function type system template module process let def define");
  const parser: StreamParser<State> = {
    name,
    startState: () => ({ inBlock: false, before: "" }),
    copyState: (state) => ({ ...state }),
    token(stream: StringStream, state: State): string | null {
      if (state.inBlock) {
        const end = words.block![1];
        if (stream.skipTo(end)) {
          stream.pos += end.length;
          state.inBlock = false;
        } else stream.skipToEnd();
        return "comment";
      }
      if (stream.eatSpace()) return null;
      if (words.annotation && stream.match(words.annotation)) return "meta";
      if (stream.match(words.line)) {
        stream.skipToEnd();
        return "comment";
      }
      if (words.block && stream.match(words.block[0])) {
        state.inBlock = true;
        return "comment";
      }
      if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
      if (stream.match(/^(?:0[xb][0-9a-fA-F_]+|\d[\d_]*(?:\.\d+)?)/)) return "number";
      const found = stream.match(word) as RegExpMatchArray | null;
      if (found) {
        const text = found[0];
        const before = state.before;
        state.before = text;
        if (keywords.has(text)) return "keyword";
        if (types.has(text)) return "type";
        if (constants.has(text)) return "atom";
        if (defines.has(before)) return "def";
        return stream.match(/^\s*\(/, false) ? "call" : "name";
      }
      state.before = "";
      if (stream.match(operators)) return "operator";
      stream.next();
      return "punctuation";
    },
    tokenTable: {
      def: tags.definition(tags.variableName),
      call: tags.function(tags.variableName),
      name: tags.variableName,
      type: tags.typeName,
    },
    languageData: {
      commentTokens: { line: name === "lustre" || name === "smv" ? "--" : name === "smt" || name === "btor2" ? ";" : "//" },
      closeBrackets: { brackets: ["(", "[", "{"] },
      indentOnInput: /^\s*[})\]]$/,
    },
  };
  return StreamLanguage.define(parser);
}

const SMT = highlighter("smt", {
  keywords:
    "declare-fun define-fun assert check-sat set-logic declare-rel declare-var rule query define-state-type define-states define-transition define-transition-system query let forall exists and or not xor ite set-info set-option exit declare-const get-model push pop",
  types: "Bool Int Real Array BitVec",
  line: /^;/,
  word: /^[\p{L}_|!.:-][\p{L}\p{N}_|!.'-]*/u,
  operators: /^(=>|<=|>=|[-+*\/<>=])/,
});

export const LANGUAGES: ModelLanguage[] = [
  {
    id: "sts",
    extension: ".sts",
    label: "gander (.sts)",
    format: "sts",
    support: highlighter("sts", {
      keywords:
        "spec system enum var input const def define let in start node final step when always reachable eventually leads to possible from then with via and or not xor if else use as allow assume invariant fair exists until weak strong compassion justice infinite steps can enable some run forall exists is unchanged every always-possible",
      types: "bool int real bits array string",
      line: /^\/\//,
      block: ["/*", "*/"],
    }),
  },
  {
    id: "lustre",
    extension: ".lus",
    label: "Lustre (.lus)",
    format: "lustre",
    support: highlighter("lustre", {
      keywords:
        "node function returns var let tel const type include if then else and or not xor pre fby assert when merge current condact every restart automaton state initial until unless resume imported contract guarantee assume mode require ensure enum struct of with div mod",
      types: "bool int real subrange",
      line: /^--(?![%@])/,
      block: ["(*", "*)"],
      annotation: /^--[%@]\w*!?/,
    }),
  },
  {
    id: "script",
    extension: ".script",
    label: "script (.script)",
    format: "script",
    support: highlighter("script", {
      keywords:
        "VARS INIT TRANS PROGRAM PROCESS REACH SAFE INF LIVENESS DEADLOCK MAXSTEPS const proc nondet state STATES GOAL",
      types: "bool int",
      line: /^\/\//,
      operators: /^(\|\||~>|>:|->|==|!=|<=|>=|[-+*\/%<>=!&|?:.])/,
    }),
  },
  {
    id: "smv",
    extension: ".smv",
    label: "SMV (.smv)",
    format: "smv",
    support: highlighter("smv", {
      keywords:
        "MODULE VAR IVAR FROZENVAR DEFINE ASSIGN INIT TRANS INVAR INVARSPEC LTLSPEC CTLSPEC SPEC FAIRNESS JUSTICE COMPASSION CONSTANTS init next case esac in union mod G F X U AG EF AF EG",
      types: "boolean integer real word array of unsigned signed",
      constants: "TRUE FALSE",
      line: /^--/,
    }),
  },
  { id: "vmt", extension: ".vmt", label: "VMT (.vmt)", format: "vmt", support: SMT },
  { id: "horn", extension: ".smt2", label: "Horn clauses (.smt2)", format: "horn", support: SMT },
  { id: "mcmt", extension: ".mcmt", label: "MCMT (.mcmt)", support: SMT },
  {
    id: "btor2",
    extension: ".btor2",
    label: "BTOR2 (.btor2)",
    format: "btor2",
    support: highlighter("btor2", {
      keywords: "sort input state init next bad constraint fair justice output bitvec array",
      types: "",
      line: /^;/,
    }),
  },
];

/** The language of a file. */
export function languageOf(name: string): ModelLanguage {
  return LANGUAGES.find((language) => name.endsWith(language.extension)) ?? LANGUAGES[0]!;
}

const style = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--syntax-keyword)" },
  { tag: tags.typeName, color: "var(--syntax-type)" },
  { tag: [tags.atom, tags.number, tags.bool], color: "var(--syntax-number)" },
  { tag: tags.string, color: "var(--syntax-string)" },
  { tag: tags.comment, color: "var(--syntax-comment)", fontStyle: "italic" },
  { tag: tags.meta, color: "var(--syntax-type)", fontWeight: "600" },
  { tag: tags.definition(tags.variableName), color: "var(--syntax-name)", fontWeight: "600" },
  { tag: tags.function(tags.variableName), color: "var(--syntax-call)" },
  { tag: [tags.operator, tags.punctuation], color: "var(--syntax-operator)" },
]);

export const colours: Extension = syntaxHighlighting(style);
