import { commandArguments } from './command-arguments.ts';
import { CommandError, parseCommand } from './parse-command.ts';
import { quoteCommand } from './quote-command.ts';

/** Return a command for people to read, with `***` for the values of flags that hold secrets. */
export function shownCommand(command: string): string {
  let words: string[];
  try {
    words = parseCommand(command);
  } catch (error) {
    if (error instanceof CommandError) return command;
    throw error;
  }
  const masked = words.map((word, at) => {
    // Launchers have flags, too.
    return isSecretValue(words, at) ? '***' : maskedText(word);
  });
  // Other values of the same flag, parameters of notebooks, and keys that look like keys.
  for (const { name, value, at, words: count, isJoined } of commandArguments(words)) {
    if (!isSecretName(name) && !isKey(name, value ?? '')) continue;
    const word = words[at] ?? '';
    if (isJoined) masked[at] = `${word.slice(0, word.indexOf('=') + 1)}***`;
    for (let next = at + 1; next < at + count; next += 1) masked[next] = '***';
  }
  return masked.every((word, at) => word === words[at]) ? command : quoteCommand(masked);
}

/** Return whether a flag holds a secret, by its name or by the form of its value. */
export const holdsSecret = (name: string, value: string): boolean =>
  isSecretName(name) || isKey(name, value) || maskedText(value) !== value;

/** Return whether a word may be the value of a secret flag in front of it. Such a value may begin with one hyphen. */
export const isSecretValue = (words: readonly string[], at: number): boolean => {
  const [, flag] = bareFlag.exec(words[at - 1] ?? '') ?? [];
  return flag !== undefined && isSecretName(flag) && !(words[at] ?? '').startsWith('--');
};

const bareFlag = /^--?([A-Za-z][\w.-]*)$/;

/** `authToken` is `auth_Token`. */
const isSecretName = (name: string): boolean =>
  secretName.test(name.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2'));

const secretName =
  /(?:^|[_.-])(?:password|passwd|passphrase|pass|pwd|secrets?|token|cookie|credentials?|authorization|bearer|(?:api|access|private|secret|auth|account|license|encryption|signing|ssh|wandb|openai|anthropic|hf|huggingface|aws|azure|google|gcp|comet|neptune|gemini|groq|cohere|openrouter|replicate)[_.-]?key)$|^(?:apikey|dsn)$/i;

const isKey = (name: string, value: string): boolean => keyName.test(name) && randomText.test(value);

const keyName = /(?:^|[_.-])(?:keys?|tokens)$/i;

/** Letters and digits in one word, as keys are written. */
const randomText = /^(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[\w+/=~-]{12,}$/;

/** Mask secrets within a text: a word of a command, the script of a shell, JSON, a header, the query of a URL. */
const maskedText = (text: string): string =>
  text
    .replaceAll(credentials, '$1***@')
    .replaceAll(tokens, '***')
    .replaceAll(bearer, '$1***')
    .replaceAll(named, (whole, name: string, between: string, value: string) => {
      if (isSecretName(name)) return `${name}${between}***`;
      return /^["']/.test(value)
        ? `${name}${between}${quoteOf(value)}${maskedText(value.slice(1, -1))}${quoteOf(value)}`
        : whole;
    });

const quoteOf = (value: string): string => value.charAt(0);

/** Tokens of Hugging Face, OpenAI, GitHub, GitLab, Slack, AWS and JWTs. */
const tokens =
  /\b(?:hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AKIA[A-Z0-9]{16}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)/g;

const bearer = /\b((?:Bearer|Basic) {1,4})[\w.~+/=-]{8,}/gi;

/**
 * `--token abc`, `TOKEN=abc`, `"token": "abc"`, `?token=abc`. A value in quotes may contain blanks, and a variable is
 * none. Names are bounded, so the time is proportional to the text.
 */
const named =
  /(?<![\w.-])(-{0,2}[A-Za-z][\w.-]{0,80})(["']? {0,4}(?:=|:(?!\/\/)) {0,4}|(?<=(?<!\S)--?[\w.-]{1,81}) {1,4}(?!--))("[^"]*"|'[^']*'|[^\s"',;&?}$][^\s"',;&?}]*)/g;

/** User and password of a URL. */
const credentials = /([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@]+@/gi;

/** Names of places that a program writes to or reads everything from. They say nothing about what it does. */
const placeName = /(?:^|[_.-])(?:dir|dirs|directory|folder|root|out|output|outfile|logdir|workdir|cwd)$/i;
const placeholderPath = /\{(?:config|output_dir|data_dir|checkpoint_dir|metrics_file)\}/;

/**
 * Return whether a flag holds a place of one machine or run: an absolute path, a URL, a folder of outputs. A name such
 * as `yolo11n.yaml`, `configs/a.yaml` or `facebook/opt-125m` is a choice that runs are compared by.
 */
export function holdsPlace(name: string, value: string): boolean {
  if (/^(?:[/~\\]|[A-Za-z]:\\)/.test(value) || /^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return true;
  if (placeholderPath.test(value)) return true;
  return placeName.test(name) && value !== 'true' && !/^[\d.]+$/.test(value);
}
