import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { bytesText } from '../../shared/core/bytes-text.ts';
import type { CliContext } from '../context.ts';

/** Saves a text in a file, which appears whole, or prints it where no file is named. */
export async function saveText(
  { folder, printer, process: { stdout } }: CliContext,
  to: string | undefined,
  text: string,
): Promise<void> {
  if (to === undefined) {
    stdout.write(text.endsWith('\n') ? text : `${text}\n`);
    return;
  }
  const file = resolve(folder, to);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.part`, text);
  await rename(`${file}.part`, file);
  printer.say(`${file}  ${bytesText(Buffer.byteLength(text))}`);
}

/** Saves a value as JSON in a file, or prints it where no file is named. */
export async function saveJson(context: CliContext, to: string | undefined, value: unknown): Promise<void> {
  if (to === undefined) context.printer.json(value);
  else await saveText(context, to, `${JSON.stringify(value, undefined, 2)}\n`);
}
