import { glob, readFile } from 'node:fs/promises';

/** The command line of every process of this machine. */
export async function commandLines(): Promise<string[]> {
  const files = await Array.fromAsync(glob('/proc/[0-9]*/cmdline'));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  return texts.map((text) => text.split('\0').filter(Boolean).join(' '));
}
