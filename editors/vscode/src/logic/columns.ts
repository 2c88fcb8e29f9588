// Columns: the service counts characters (code points), the editor counts UTF-16 units.

/** The UTF-16 column of a column in characters, both from zero. */
export function utf16Column(line: string, column: number): number {
  let [units, characters] = [0, 0];
  for (const character of line) {
    if (characters >= column) break;
    units += character.length;
    characters += 1;
  }
  return units;
}
