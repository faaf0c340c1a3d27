import { chmod, open, writeFile } from 'node:fs/promises';
import { stripVTControlCharacters } from 'node:util';
import { EnvironmentError } from '../environment-error.ts';
import { maskCredentials } from '../operator-environment.ts';

interface Command {
  argv: readonly [string, ...string[]];
  cwd: string;
  /** The whole environment of the process. It inherits no other variables. */
  env: Readonly<Record<string, string>>;
}

interface CommandResult {
  /** Null if the process did not start or was ended by a signal. */
  exitCode: number | null;
  /** The last 64 KB of its output, both streams together. */
  tail: string;
  /** The reason if there is no exit code. */
  message?: string;
}

/** Run one process to its end, without a shell, as the unprivileged owner of the environment. A stop kills it. */
export type RunCommand = (command: Command) => Promise<CommandResult>;

/**
 * Run one step of an installation.
 * @param explain says why a step failed, from the end of its output; undefined if it cannot
 * @throws EnvironmentError `install-failed` with the installer's message; `stopped` if the run was stopped
 */
export async function install(
  run: RunCommand,
  command: Command,
  stop: AbortSignal,
  explain: (output: string) => string | undefined | Promise<string | undefined> = () => undefined,
): Promise<void> {
  stopped(stop);
  const result = await run(command);
  stopped(stop);
  if (result.exitCode === 0) return;
  const how =
    result.exitCode === null ? (result.message ?? 'was killed') : `ended with exit code ${result.exitCode}`;
  const reported = (await explain(plainText(result.tail))) ?? installerMessage(result.tail);
  throw new EnvironmentError('install-failed', reported === '' ? `${command.argv[0]} ${how}` : reported);
}

/** @throws EnvironmentError `stopped` if the run was stopped */
export function stopped(stop: AbortSignal): void {
  if (stop.aborted)
    throw new EnvironmentError('stopped', 'Stopped during the preparation of the environment.', stop.reason);
}

const longest = 600;

/**
 * Extract the error message of an installer, in at most 600 characters and without credentials: pip's `ERROR:`
 * lines, uv's output from `×` or `error:`, npm's `npm error` lines, otherwise the last lines. The line that names
 * the cause comes first.
 */
export function installerMessage(tail: string): string {
  const lines = plainText(tail)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const chosen = pipErrors(lines) ?? uvErrors(lines) ?? npmErrors(lines) ?? lines.slice(-6);
  return shorten(
    causeFirst(chosen)
      .map((line) => shorten(line, longest / 2))
      .join('\n'),
    longest,
  );
}

/** The output of an installer without control characters and credentials. */
const plainText = (output: string): string =>
  stripVTControlCharacters(output)
    .split(/[\r\n]+/)
    .map((line) => maskCredentials(line).replaceAll(/\p{Cc}/gu, ' '))
    .join('\n');

function pipErrors(lines: readonly string[]): string[] | undefined {
  const errors = lines.filter((line) => line.startsWith('ERROR: '));
  return errors.length === 0 ? undefined : errors.map((line) => line.slice('ERROR: '.length));
}

function uvErrors(lines: readonly string[]): string[] | undefined {
  const at = lines.findIndex((line) => /^(?:×|x|error:)\s/.test(line));
  return at < 0
    ? undefined
    : lines.slice(at).map((line) => line.replace(/^(?:cause:|[×x╰├│─▶>\s-]+)\s*(?=\S)/, ''));
}

function npmErrors(lines: readonly string[]): string[] | undefined {
  const errors = lines
    .flatMap((line) => /^npm (?:error|ERR!)\s*(.*)$/.exec(line)?.[1] ?? [])
    .map((line) => line.replace(/^(?:notarget|404|ERESOLVE)\s+/, ''))
    .filter((line) => !/^(?:|404|notarget|ERESOLVE)$|complete log of this run|-debug-\d+\.log$/.test(line));
  return errors.length === 0 ? undefined : errors;
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/** Lines in which pip, uv, npm and docker name the cause of an error. */
const causes = [
  /^No matching distribution found|^Cannot install |^Failed (?:building|to build)|^Could not build/,
  /^Because /,
  /No matching version found|requested resource .* could not be found|unable to resolve dependency|could not resolve/i,
  /^Error response from daemon|manifest unknown|pull access denied|no such host|not found/i,
];

function causeFirst(lines: readonly string[]): readonly string[] {
  const cause = causes.map((pattern) => lines.findLast((line) => pattern.test(line))).find(Boolean);
  return cause === undefined ? lines : [cause, ...lines.filter((line) => line !== cause)];
}

/** Write a new file that an installer can read, even as another user and with any umask of the service. */
export async function writeReadable(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx' });
  await chmod(path, 0o644);
}

/** Write a new file of one more line that only the builder may read and change. No code of the builder's may have run. */
export async function writeOwn(
  path: string,
  text: string,
  owner: { uid: number; gid: number } | undefined,
): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  await file.writeFile(`${text}\n`);
  if (owner !== undefined) await file.chown(owner.uid, owner.gid);
}
