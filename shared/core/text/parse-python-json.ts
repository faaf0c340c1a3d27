/**
 * Parse JSON as Python's json module writes it: with NaN, Infinity and -Infinity, outside of strings.
 *
 * @throws SyntaxError if it is none
 * @example
 * parsePythonJson('{"loss": NaN}'); // { loss: NaN }
 */
export function parsePythonJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const plain = text.replaceAll(pythonTokens, (token) => jsonTexts[token] ?? token);
    return JSON.parse(plain, (_, value) => (value === nanMark ? Number.NaN : value));
  }
}

/** Strings, which stay as they are, and the numbers that JSON does not have. */
const pythonTokens = /"(?:[^"\\]|\\.)*"?|NaN|-?Infinity/gs;

/** Stands for NaN in JSON. No tool writes it. */
const nanMark = '\0NaN';

/** JSON has no infinity, but JSON.parse reads too large a number as one. */
const jsonTexts: Readonly<Record<string, string>> = {
  NaN: JSON.stringify(nanMark),
  Infinity: '1e999',
  '-Infinity': '-1e999',
};
