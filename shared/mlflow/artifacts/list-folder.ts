import type { Artifact } from '../../data/experiments/artifact.ts';
import { listClientArtifacts } from '../../data/experiments/client-artifact.ts';
import type { MlflowContext } from '../protocol/context.ts';
import type { Place } from './artifact-home.ts';

/** A file or folder of a folder. */
export interface Entry {
  /** Below the folder: one segment. */
  name: string;
  /** Bytes of a file; null of a folder. */
  size: number | null;
}

/** Sorts behind every path of a folder. */
const behind = '\u{10FFFF}';
/** Entries of an answer, which holds them all: clients do not page. */
const maxEntries = 10_000;

/**
 * What is in a folder itself, by name. Of a folder within it one file is read, and then what comes behind it: the work is
 * that of the entries, not of the files below them.
 */
export async function listFolder(
  { records }: Pick<MlflowContext, 'records'>,
  { home, path }: Place,
): Promise<Entry[]> {
  const folder = path === '' ? '' : `${path}/`;
  const entries = new Map<string, Entry>();
  let after: string | undefined;
  let isMore = true;
  while (isMore && entries.size < maxEntries) {
    const page = await listClientArtifacts(records, home, folder, { after });
    for (const { path: found, size } of page.items) {
      const [name = '', ...deeper] = found.slice(folder.length).split('/');
      if (!entries.has(name)) entries.set(name, { name, size: deeper.length === 0 ? size : null });
    }
    const last: Artifact | undefined = page.items.at(-1);
    const [name = '', ...deeper] = (last?.path ?? '').slice(folder.length).split('/');
    isMore = page.next !== undefined;
    after = deeper.length > 0 ? `${folder}${name}/${behind}` : page.next;
  }
  return [...entries.values()];
}
