import { lstat, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

export interface SourceFile {
  path: string;
  size: number;
  /** Milliseconds; with the size it tells whether the file has changed. */
  changed: number;
}

export interface SourceFiles {
  files: SourceFile[];
  /** What is not taken along, and why. */
  leftOut: string[];
}

/** How many files are looked at at a time. */
const atOnce = 64;

async function linkFault(folder: string, path: string): Promise<string | undefined> {
  const target = await realpath(join(folder, path)).catch(() => undefined);
  if (target === undefined) return `${path}: a link to nothing`;
  return target.startsWith(`${await realpath(folder)}${sep}`)
    ? undefined
    : `${path}: a link out of the folder`;
}

async function inspect(folder: string, path: string): Promise<SourceFile | string | undefined> {
  const found = await lstat(join(folder, path)).catch(() => undefined);
  // git still lists what was deleted.
  if (found === undefined) return undefined;
  if (found.isDirectory()) return `${path}: a repository of its own`;
  if (!found.isFile() && !found.isSymbolicLink()) return `${path}: neither a file nor a link`;
  const fault = found.isSymbolicLink() ? await linkFault(folder, path) : undefined;
  return fault ?? { path, size: found.size, changed: found.mtimeMs };
}

/** Size and time of each file. */
export async function inspectFiles(folder: string, paths: readonly string[]): Promise<SourceFiles> {
  const files: SourceFile[] = [];
  const leftOut: string[] = [];
  for (let at = 0; at < paths.length; at += atOnce) {
    const inspected = await Promise.all(paths.slice(at, at + atOnce).map((path) => inspect(folder, path)));
    for (const one of inspected) {
      if (typeof one === 'string') leftOut.push(one);
      else if (one !== undefined) files.push(one);
    }
  }
  return { files, leftOut };
}
