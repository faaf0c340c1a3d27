/** Format a value as JSON with each list of numbers in one line, as matrices are read. */
export const jsonText = (value: unknown): string =>
  // Line breaks within strings are escaped, so these brackets are those of lists.
  JSON.stringify(value, null, 2).replaceAll(
    /\[\n\s+([^[\]{}"]+?)\n\s+\]/g,
    (_, numbers: string) => `[${numbers.replaceAll(/\s+/g, ' ')}]`,
  );
