import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { bytesText } from '../../shared/core/text/bytes-text.ts';
import type { CliContext } from '../context.ts';
import { refuseReplacing } from './refuse-replacing.ts';

/** Where a text goes: into a file, or to the output where none is named. */
export interface SavingFlags {
  to?: string | undefined;
  /** Whether a file that has another content may be replaced. */
  force?: boolean | undefined;
}

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

/** Saves a value as JSON in a file, or prints it where no file is named. */
export async function saveJson(context: CliContext, flags: SavingFlags, value: unknown): Promise<void> {
  if (flags.to === undefined) context.printer.json(value);
  else await saveText(context, flags, `${JSON.stringify(value, undefined, 2)}\n`);
}
