import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a file that no one else can read at any moment. It appears whole. */
export async function writeSecret(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, text, { mode: 0o600 });
  // The mode of a file that was left by a killed process is not changed by writing.
  await chmod(unfinished, 0o600);
  await rename(unfinished, file);
}
