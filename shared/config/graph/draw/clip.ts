/** Characters of a label, a text attribute or an id. */
export const maxTextLength = 200;

/** The text itself, or its beginning with an ellipsis, at most `length` UTF-16 units. */
export function clip(text: string, length = maxTextLength): string {
  return text.length > length ? `${text.slice(0, length - 1).toWellFormed()}…` : text;
}
