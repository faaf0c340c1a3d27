/** Write a value as the text of a param or a tag, as Python's `str` does. */
export function valueText(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'object' ? jsonText(value) : String(value);
}

/** Write a value as JSON. Numbers that JSON lacks are texts in it. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'number' && !Number.isFinite(part) ? String(part) : part,
  );
