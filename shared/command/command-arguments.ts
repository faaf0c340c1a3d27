import { isPapermill, papermillArguments } from './papermill.ts';
import { commandWords } from './parse-command.ts';

/** A flag or `key=value` of a command, with the positions of its words. */
export interface CommandArgument {
  /** Name without leading hyphens or Hydra's `+`. */
  name: string;
  /** Null for a flag without a value. */
  value: string | null;
  /** Index of the word with the name. */
  at: number;
  /** Number of words, including the values. */
  words: number;
  /** Whether name and value share a word, as in `--lr=0.1`. */
  isJoined: boolean;
}

/**
 * Return the flags and `key=value` pairs that a command passes to its program. Flags of launchers in front of a
 * script (`torchrun`, `accelerate launch`, `env`) are left out. Those of papermill are the parameters of its notebook.
 */
export function commandArguments(words: readonly string[]): CommandArgument[] {
  if (isPapermill(words)) return papermillArguments(words);
  const found: CommandArgument[] = [];
  let at = firstArgument(words);
  while (at < words.length) {
    const word = words[at] ?? '';
    if (word === '--') break;
    const argument = flagAt(words, at) ?? pairAt(word, at);
    if (argument !== undefined) found.push(argument);
    at += argument?.words ?? 1;
  }
  return found;
}

/** Return the words of the script of `sh -c …` if it is one plain command; otherwise the words of the command. */
export function programWords(text: string): string[] {
  const words = commandWords(text);
  const at = words.findIndex((word, index) => index > 0 && /^-[a-z]*c$/.test(word));
  const isShell = shells.has(words[0]?.split('/').at(-1) ?? '');
  const script = words[at + 1];
  if (!isShell || at === -1 || script === undefined) return words;
  // The last command is the training; those before it prepare it.
  return commandWords((script.split(/&&|;|\n/).findLast((part) => part.trim() !== '') ?? '').trim());
}

const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash']);

const script = /^[^-].*\.(?:py|js|mjs|cjs|ts|mts|sh|r|jl|pl|rb|lua|jar)$/i;

/** Flags whose value is the program: a module, or its code. */
const takesProgram: ReadonlySet<string> = new Set(['-m', '-c', '-e']);

const launcher =
  /^(?:python|node|pypy|torchrun|accelerate|deepspeed|horovodrun|mpirun|uv|poetry|pdm|pixi|conda|env)/;

/** Return the index of the first word that the program itself reads. */
function firstArgument(words: readonly string[]): number {
  const [program = ''] = words;
  const isLaunched = launcher.test(program.split('/').at(-1) ?? '');
  const at = words.findIndex(
    (word, index) => script.test(word) || (isLaunched && index > 0 && takesProgram.has(word)),
  );
  if (at === -1) return 1;
  return takesProgram.has(words[at] ?? '') ? at + 2 : at + 1;
}

const name = String.raw`[A-Za-z_][\w./@-]*`;
const joinedFlag = new RegExp(`^--?(${name})=([\\s\\S]*)$`);
const bareFlag = new RegExp(`^--?(${name})$`);
const numberedFlag = /^-([A-Za-z])(\d+(?:\.\d+)?)$/;
const pair = new RegExp(`^\\+{0,2}(${name})=([\\s\\S]*)$`);
const plainNumber = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;

function flagAt(words: readonly string[], at: number): CommandArgument | undefined {
  const word = words[at] ?? '';
  const joined = joinedFlag.exec(word) ?? numberedFlag.exec(word);
  if (joined !== null) return { name: joined[1] ?? '', value: joined[2] ?? '', at, words: 1, isJoined: true };
  const [, flag] = bareFlag.exec(word) ?? [];
  if (flag === undefined) return undefined;
  const isValue = (one: string | undefined): one is string =>
    one !== undefined && (plainNumber.test(one) || !/^-|^\+{0,2}[A-Za-z_][\w./@-]*=/.test(one));
  const first = words[at + 1];
  if (!isValue(first)) return { name: flag, value: null, at, words: 1, isJoined: false };
  // `--layers 64 64` has several numbers. A text after a value is an argument of its own.
  let end = at + 2;
  while (plainNumber.test(first) && plainNumber.test(words[end] ?? '')) end += 1;
  return {
    name: flag,
    value: words.slice(at + 1, end).join(' '),
    at,
    words: end - at,
    isJoined: false,
  };
}

function pairAt(word: string, at: number): CommandArgument | undefined {
  const [, key, value] = pair.exec(word) ?? [];
  return key === undefined ? undefined : { name: key, value: value ?? '', at, words: 1, isJoined: true };
}
