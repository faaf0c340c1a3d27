import { type CommandArgument, commandArguments, programWords } from './command-arguments.ts';
import { isPapermill, setPapermill } from './papermill.ts';
import { CommandError, commandWords, parseCommand } from './parse-command.ts';
import { quoteCommand } from './quote-command.ts';

/** Values of flags by name, with their hyphens (`--lr`) or without (`lr`). Null removes a flag. */
export type FlagValues = Readonly<Record<string, string | number | boolean | null>>;

/** Return whether a command has a flag or `key=value` of this name that can be changed. */
export const hasFlag = (command: string, name: string): boolean =>
  argumentsOf(commandWords(command), name).length > 0;

/**
 * Return a command with other values of its flags. A flag that it lacks is added at the end, if its name is given
 * with hyphens.
 * @throws CommandError for a flag within the script of a shell, and for a name that the command lacks
 */
export function setFlags(command: string, flags: FlagValues): string {
  let words: string[] = parseCommand(command);
  const isScript = programWords(command).length !== words.length;
  for (const [name, value] of Object.entries(flags)) {
    const found = argumentsOf(words, name).at(-1);
    if (isPapermill(words) && (found !== undefined || name.startsWith('-')))
      words = setPapermill(words, found, name, value);
    else if (found !== undefined) words = replaced(words, found, value);
    else if (isScript)
      throw new CommandError(
        `${name} cannot be set within the script of a shell; write the whole command again`,
      );
    else if (!name.startsWith('-')) throw new CommandError(`the command has no flag ${name}`);
    else if (value !== null && value !== false)
      words = [...words, value === true ? name : `${name}=${value}`];
  }
  return quoteCommand(words);
}

/** Return the arguments of this name. Hyphens and underscores within a name are the same. */
function argumentsOf(words: readonly string[], name: string): CommandArgument[] {
  const plain = (text: string): string => text.replace(/^--?/, '').replaceAll('-', '_');
  return commandArguments(words).filter((commandArgument) => plain(commandArgument.name) === plain(name));
}

function replaced(
  words: readonly string[],
  { at, words: count, isJoined, value: before }: CommandArgument,
  value: string | number | boolean | null,
): [string, ...string[]] {
  const [first = '', ...rest] = [...words.slice(0, at), ...written(), ...words.slice(at + count)];
  return [first, ...rest];

  function written(): string[] {
    const word = words[at] ?? '';
    if (value === null || (before === null && value === false)) return [];
    if (before === null) return value === true ? [word] : [`${word}=${value}`];
    // Python programs read `False`, not `false`.
    const isPython = typeof value === 'boolean' && /^(?:True|False)$/.test(before);
    const text = isPython ? (value ? 'True' : 'False') : String(value);
    if (!isJoined) return [word, ...(count > 2 ? text.split(/[\s,]+/) : [text])];
    return [
      word.includes('=') ? `${word.slice(0, word.indexOf('=') + 1)}${text}` : `${word.slice(0, 2)}${text}`,
    ];
  }
}
