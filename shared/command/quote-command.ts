/** Return a command line of these words, quoted for a shell. */
export const quoteCommand = (words: readonly string[]): string => words.map(quoted).join(' ');

const quoted = (word: string): string =>
  /^[\w@%+=:,./{}-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
