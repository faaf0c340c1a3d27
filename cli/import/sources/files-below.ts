import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** A file or a link below a folder. */
interface FoundFile {
  /** Path with slashes, relative to the folder. */
  path: string;
  /** False for links and whatever else is no file of its own. */
  isFile: boolean;
}

/**
 * Yield what is below a folder, sorted by name within each folder. Follow no links: they may lead anywhere.
 * @param enters whether to look into a folder, by its name and how deep it is
 */
export async function* filesBelow(
  folder: string,
  enters: (name: string, depth: number) => boolean = () => true,
  { below, depth } = { below: '', depth: 0 },
): AsyncGenerator<FoundFile> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (!entry.isDirectory()) yield { path, isFile: entry.isFile() };
    else if (enters(entry.name, depth)) yield* filesBelow(folder, enters, { below: path, depth: depth + 1 });
  }
}
