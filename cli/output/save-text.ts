import { lstat, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { bytesText } from '../../shared/core/text/bytes-text.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';

/** Save a text in a file atomically, or print it. @throws CliError if it would replace another text */
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
    printer.say(`${file}  ${size}, already there`);
    return;
  }
  await refuseReplacing([file], { force, undone: 'nothing was saved' });
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.part`, text);
  await rename(`${file}.part`, file);
  printer.say(`${file}  ${size}`);
}

/** Flags for the target of a text: a file, or stdout by default. */
export interface SavingFlags {
  to?: string | undefined;
  /** Whether to replace an existing file with other contents. */
  force?: boolean | undefined;
}

/**
 * Refuse to write over existing files without `force`.
 *
 * @param paths absolute paths
 * @param undone text for the error: what the command has not done
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

/** Return whether a path exists, including as a broken link. */
export const isTaken = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Maximum number of file names in the error. It counts the others. */
const maxNamed = 5;

/** Return the error that names the files to be replaced. */
export function replacedError(paths: readonly string[], undone: string): CliError {
  const more = paths.length - maxNamed;
  const names = paths.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const [exist, them] = paths.length === 1 ? ['exists', 'it'] : ['exist', 'them'];
  return new CliError(
    `${names} ${exist} already; ${undone}. Use --to to save elsewhere, or --force to replace ${them}.`,
    exitCodes.usage,
  );
}

/** Save a value as JSON in a file, or print it without a file name. */
export async function saveJson(context: CliContext, flags: SavingFlags, value: unknown): Promise<void> {
  if (flags.to === undefined) context.printer.json(value);
  else await saveText(context, flags, `${JSON.stringify(value, undefined, 2)}\n`);
}
