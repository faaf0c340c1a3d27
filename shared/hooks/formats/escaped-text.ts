/** Escape a text and truncate it to `most` characters after escaping. */
export function escapedText(text: string, most: number, inFormat: (text: string) => string): string {
  let length = most;
  let escaped = inFormat(cutText(text, length));
  while (escaped.length > most) {
    length -= Math.ceil((escaped.length - most) / 5);
    escaped = inFormat(cutText(text, length));
  }
  return escaped;
}

/** Escape a text for Markdown, as Discord and Teams read it, and cut it. */
export const markdownText = (text: string, most: number): string =>
  escapedText(text, most, (given) => given.replace(/[\\*_~`|[\]()<>#]/g, '\\$&'));

/** Cut a text to a number of UTF-16 units, never within a character. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
