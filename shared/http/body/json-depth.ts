/**
 * Return whether JSON nests lists and objects too deep. Functions that call themselves for each level, such as
 * `JSON.stringify`, end with an error there.
 */
export function isDeepJson(text: string): boolean {
  if (hasFewBrackets(text)) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      at = endOfString(text, at);
    } else if (unit === openList || unit === openObject) {
      depth += 1;
      if (depth > maxJsonDepth) return true;
    } else if (unit === closeList || unit === closeObject) {
      depth -= 1;
    }
  }
  return false;
}

/** Whether a text has too few opening brackets to be deep: most texts, and this is fast for long lists of numbers. */
function hasFewBrackets(text: string): boolean {
  let count = 0;
  for (const bracket of ['[', '{'])
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      count += 1;
      if (count > maxJsonDepth) return false;
    }
  return true;
}

/** Maximum levels of JSON in a request. Tensors have a level for each dimension. */
export const maxJsonDepth = 100;

const [quote, backslash] = [0x22, 0x5c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Return the position of the quote that ends a string. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === quote) return at;
    if (unit === backslash) at += 1;
  }
  return text.length;
}
