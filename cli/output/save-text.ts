import { lstat, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { bytesText } from '../../shared/core/text/bytes-text.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';

/** Saves a text in a file, which appears whole, or prints it. @throws CliError where it would replace another text */
export async function saveText(
  { folder, printer, process: { stdout } }: CliContext,
  { to, force }: SavingFlags,
  text: string,
): Promise<void> {
  if (to === undefined) {
    stdout.write(text.endsWith('\n') ? text : `${text}\n`);
    return;
  }
  const file = resolve(folder, to);
  const size = bytesText(Buffer.byteLength(text));
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) {
    printer.say(`${file}  ${size}, there already`);
    return;
  }
  await refuseReplacing([file], { force, undone: 'nothing was saved' });
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.part`, text);
  await rename(`${file}.part`, file);
  printer.say(`${file}  ${size}`);
}

/** Where a text goes: into a file, or to the output where none is named. */
export interface SavingFlags {
  to?: string | undefined;
  /** Whether a file that has another content may be replaced. */
  force?: boolean | undefined;
}

/**
 * Makes sure that a command may write files. It may replace an existing file only with `force`.
 *
 * @param paths absolute paths
 * @param undone words for the error: what the command has not done
 * @throws CliError if a path is a folder, or if a file exists and `force` is not set
 */
export async function refuseReplacing(
  paths: readonly string[],
  { force = false, undone }: { force?: boolean | undefined; undone: string },
): Promise<void> {
  const taken: string[] = [];
  for (const path of paths) {
    if (await isFolder(path))
      throw new CliError(`${path} is a folder; ${undone}. Give the name of a file in it.`, exitCodes.usage);
    if (await isTaken(path)) taken.push(path);
  }
  if (taken.length > 0 && !force) throw replacedError(taken, undone);
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** Whether the path is taken, also by a broken link. */
const isTaken = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Most files that the error names. It only counts the others. */
const maxNamed = 5;

/** The error that tells which files would be replaced. */
export function replacedError(paths: readonly string[], undone: string): CliError {
  const more = paths.length - maxNamed;
  const names = paths.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const [exist, them] = paths.length === 1 ? ['exists', 'it'] : ['exist', 'them'];
  return new CliError(
    `${names} ${exist} already; ${undone}. Use --to to save elsewhere, or --force to replace ${them}.`,
    exitCodes.usage,
  );
}

/** Saves a value as JSON in a file, or prints it where no file is named. */
export async function saveJson(context: CliContext, flags: SavingFlags, value: unknown): Promise<void> {
  if (flags.to === undefined) context.printer.json(value);
  else await saveText(context, flags, `${JSON.stringify(value, undefined, 2)}\n`);
}
