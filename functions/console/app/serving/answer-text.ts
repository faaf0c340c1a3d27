/** Format the answer of a model as JSON with each list of numbers in one line. */
export const answerText = (answer: unknown): string =>
  // Line breaks within strings are escaped, so these brackets are those of lists.
  JSON.stringify(answer, null, 2).replaceAll(
    /\[\n\s+([^[\]{}"]+?)\n\s+\]/g,
    (_, numbers: string) => `[${numbers.replaceAll(/\s+/g, ' ')}]`,
  );
