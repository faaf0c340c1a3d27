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
  const secret = commandArguments(words).filter(({ name, value }) => holdsSecret(name, value ?? ''));
  const masked = words.map((word) =>
    word
      .replaceAll(credentials, '$1***@')
      .replaceAll(tokens, '***')
      .replaceAll(flagInScript, (text, flag: string, name: string) =>
        holdsSecret(name, '') ? `${flag}***` : text,
      ),
  );
  for (const { at, words: count, isJoined } of secret) {
    const word = words[at] ?? '';
    if (isJoined) masked[at] = `${word.slice(0, word.indexOf('=') + 1)}***`;
    for (let next = at + 1; next < at + count; next += 1) masked[next] = '***';
  }
  return masked.every((word, at) => word === words[at]) ? command : quoteCommand(masked);
}

const secretName =
  /(?:^|[_.-])(?:password|passwd|passphrase|pwd|secret|token|credentials?|authorization|bearer|(?:api|access|private|secret|auth|wandb|license)[_.-]?key)$|^(?:apikey|dsn)$/i;

/** Tokens of Hugging Face, OpenAI, GitHub, GitLab, Slack, AWS and JWTs. */
const tokens =
  /\b(?:hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AKIA[A-Z0-9]{16}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)/g;

/** A flag with its value within the script of a shell. */
const flagInScript = /(?<=\s)(--?([\w.-]+)[= ]\s*)[^\s-]\S*/g;

/** User and password of a URL. */
const credentials = /([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@]+@/gi;

/** Return whether a flag holds a secret, by its name or by the form of its value. */
export const holdsSecret = (name: string, value: string): boolean =>
  secretName.test(name) ||
  value !== value.replaceAll(tokens, '') ||
  value !== value.replaceAll(credentials, '');

const pathName =
  /(?:^|[_.-])(?:dir|dirs|directory|path|paths|file|files|filename|folder|root|out|output|outfile|logdir|workdir|cwd)$/i;
const pathEnding =
  /\.(?:ya?ml|json[l5]?|toml|cfg|conf|ini|txt|csv|tsv|md|py|sh|parquet|arrow|feather|npy|npz|h5|hdf5|pkl|pickle|joblib|pth?|ckpt|safetensors|onnx|bin|zip|tar|gz|tgz|bz2|xz|log|png|jpe?g|wav|mp[34]|db|sqlite)$/i;
const placeholderPath = /\{(?:config|output_dir|data_dir|checkpoint_dir|metrics_file)\}/;

/**
 * Return whether a flag holds a path, by its name or by the form of its value. `facebook/opt-125m` is a model's
 * name, also under Hugging Face's `--model_name_or_path`.
 */
export function holdsPath(name: string, value: string): boolean {
  if (/^(?:[./~\\]|[A-Za-z]:\\)[^\d]/.test(value) || /^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return true;
  if (pathEnding.test(value) || placeholderPath.test(value)) return true;
  return pathName.test(name) && !/name_or_path$/i.test(name) && value !== 'true' && !/^[\d.]+$/.test(value);
}
