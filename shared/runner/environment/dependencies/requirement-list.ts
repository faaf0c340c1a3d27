/** Longer lines are not split (and refused by the grammar), which bounds the work that a hostile file can cause. */
export const longestLine = 4000;

/** One requirement as written, without its comment; `line` counts from 1. */
export interface RequirementText {
  line: number;
  text: string;
}

/**
 * Splits requirement lines, which may also be separated by commas.
 * A newline always separates. A comma separates outside brackets and quotes, unless a version comparator follows it
 * (`numpy>=1,<2`). In a direct URL a comma belongs to the URL unless white space follows. Comments (` #…`) end a line.
 */
export function splitRequirements(text: string): RequirementText[] {
  return text.split(/\r\n|\n|\r/).flatMap((raw, index) =>
    splitCommas(raw.replace(/(?:^|\s)#.*$/, ''))
      .map((part) => ({ line: index + 1, text: part.trim() }))
      .filter((part) => part.text !== ''),
  );
}

function splitCommas(line: string): string[] {
  if (line.length > longestLine) return [line];
  const parts: string[] = [];
  let start = 0;
  let depth = 0;
  let quote = '';
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '[' || character === '(') depth += 1;
    else if (character === ']' || character === ')') depth -= 1;
    else if (character === ',' && depth <= 0 && separates(line, start, at)) {
      parts.push(line.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, line.slice(start)];
}

function separates(line: string, start: number, comma: number): boolean {
  const token = line.slice(start, comma).trimStart().split(/\s/).at(-1) ?? '';
  const next = line.charAt(comma + 1);
  if (/(?:^|@)[A-Za-z+]+:\/\//.test(token)) return next === '' || /\s/.test(next);
  return !/^\s*[<>=!~]/.test(line.slice(comma + 1, comma + 100));
}
