/** Maximum number of characters of a label, a text attribute or an ID. */
export const maxTextLength = 200;

/** Cut a text with an ellipsis to at most `length` UTF-16 units. */
export function clip(text: string, length = maxTextLength): string {
  return text.length > length ? `${text.slice(0, length - 1).toWellFormed()}…` : text;
}
