/** Whether a command executes a notebook with papermill. */
export const isPapermill = ([program]: readonly string[]): boolean =>
  program?.split('/').at(-1) === 'papermill';

/** A parameter of a notebook in a command: the positions of the words with its name and value. */
interface NotebookParameter {
  name: string;
  value: string | null;
  at: number;
  words: number;
  isJoined: boolean;
}

const option = /^(?:-[pr]|--parameters(?:_raw)?)$/;

/** Return the parameters that a command of papermill passes to its notebook: `-p NAME VALUE`. */
export function papermillArguments(words: readonly string[]): NotebookParameter[] {
  const found: NotebookParameter[] = [];
  for (let at = 1; at + 2 < words.length; at += 1) {
    if (!option.test(words[at] ?? '')) continue;
    const [name = '', value = ''] = words.slice(at + 1, at + 3);
    found.push({ name, value, at: at + 1, words: 2, isJoined: false });
    at += 2;
  }
  return found;
}

/** Return a command of papermill with a value of this parameter; null removes it. */
export function setPapermill(
  words: readonly string[],
  notebookParameter: NotebookParameter | undefined,
  name: string,
  value: string | number | boolean | null,
): string[] {
  const given =
    value === null
      ? []
      : ['-p', notebookParameter?.name ?? name.replace(/^--?/, '').replaceAll('-', '_'), String(value)];
  if (notebookParameter === undefined) return [...words, ...given];
  return [
    ...words.slice(0, notebookParameter.at - 1),
    ...given,
    ...words.slice(notebookParameter.at + notebookParameter.words),
  ];
}
