import { CommandError, type SplitCommand, splitCommand } from './parse-command.ts';
import { placeholderList, placeholderOf, unknownPlaceholders } from './placeholders.ts';

const shells = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash']);

/** The option of a shell that takes the next word as its value: `-o pipefail`, also as the end of `-euo`. */
const takesValue = /^[-+][a-zA-Z]*[oO]$/;
const takesScript = /^-[a-zA-Z]*c[a-zA-Z]*$/;

/** Index of the script of `bash -c …`, wherever in the command it stands; undefined where there is none. */
function scriptIndex(words: readonly string[]): number | undefined {
  for (const [index, word] of words.entries()) {
    if (!shells.has(word.slice(word.lastIndexOf('/') + 1))) continue;
    let at = index + 1;
    let hasScript = false;
    for (; /^[-+]./.test(words[at] ?? ''); at += 1) {
      const option = words[at] ?? '';
      if (takesScript.test(option)) hasScript = true;
      if (takesValue.test(option)) at += 1;
    }
    if (hasScript && at < words.length) return at;
  }
  return undefined;
}

function expansionFault({ words, expansions }: SplitCommand): string[] {
  const script = scriptIndex(words);
  const outside = expansions.filter(({ word }) => word !== script).map(({ text }) => text);
  const [first] = outside;
  if (first === undefined) return [];
  const placeholder = placeholderOf(first.replaceAll(/[${}]/g, ''));
  const instead = placeholder === undefined ? '' : `write ${placeholder}, or `;
  return [
    `${[...new Set(outside)].join(', ')}: variables are not expanded, because no shell runs the command; ${instead}write bash -c '… ${first} …', where the shell expands it; in single quotes ('${first}') it is text`,
  ];
}

function placeholderFault({ words }: SplitCommand): string[] {
  const unknown = [...new Set(words.flatMap(unknownPlaceholders))];
  const [first] = unknown;
  if (first === undefined) return [];
  const named = unknown.map((name) => `{${name}}`).join(', ');
  return [
    `${named}: not replaced in a command; ${placeholderList} are; the text {${first}} itself is written {{${first}}}`,
  ];
}

/** All parts of a command that would not work in a run as written, as messages for its author. */
export function commandFaults(text: string): string[] {
  try {
    const split = splitCommand(text);
    return [...placeholderFault(split), ...expansionFault(split)];
  } catch (error) {
    if (error instanceof CommandError) return [error.message];
    throw error;
  }
}
