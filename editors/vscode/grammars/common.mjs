// Parts that the grammars share. A grammar is a flat list of patterns: the first one that matches
// at a place wins, so a broken line cannot change the colours of the lines after it. Only block
// comments and strings reach over several tokens.

/** A name: letters of all scripts count, as in the lexers. */
export const name = String.raw`[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{N}\p{M}\p{Pc}]*`;

/** Alternatives of words, longest first, as whole words. */
export function words(list) {
  const sorted = [...list].sort((a, b) => b.length - a.length);
  return String.raw`\b(?:${sorted.join("|")})\b`;
}

/** One pattern; `captures` lists the scopes of its groups. */
export function rule(match, scope, captures = []) {
  const groups = captures.map((scope, i) => [String(i + 1), { name: scope }]);
  const pattern = { match };
  if (scope) pattern.name = scope;
  if (groups.length > 0) pattern.captures = Object.fromEntries(groups);
  return pattern;
}

/** A comment or a string: from one text to another one. */
export function region(begin, end, scope, patterns = []) {
  return { begin, end, name: scope, patterns };
}

/** Operators, longest first. */
export function signs(list, scope) {
  const escaped = [...list]
    .sort((a, b) => b.length - a.length)
    .map((sign) => sign.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return rule(escaped.join("|"), scope);
}

/** A grammar file. Every scope gets the language as its last part. */
export function grammar(language, title, patterns) {
  const suffix = (value) => {
    if (Array.isArray(value)) return value.map(suffix);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        key === "name" && typeof inner === "string" ? `${inner}.${language}` : suffix(inner),
      ]),
    );
  };
  return { name: title, scopeName: `source.${language}`, patterns: suffix(patterns) };
}
