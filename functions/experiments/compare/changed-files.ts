import { buffer } from 'node:stream/consumers';
import * as z from 'zod';
import type { ObjectReader } from '../../../shared/aws/objects.ts';
import type { Experiment } from '../../../shared/data/experiments/experiment.ts';
import { uploadObject } from '../../../shared/data/projects/upload.ts';

/** Largest archive that is read for an answer, and bytes of all of them, packed and unpacked. */
const archiveMaxBytes = 32 * 1024 * 1024;
const packedMaxBytes = 64 * 1024 * 1024;
const limits = { maxEntries: 50_000, maxBytes: 256 * 1024 * 1024, maxPathBytes: 4096, maxDepth: 100 };
/** Characters of all names of an answer. */
const maxNames = 500_000;

/** Names of the files in which two sources differ. */
export const ChangedFiles = z
  .object({
    added: z.array(z.string()),
    removed: z.array(z.string()),
    changed: z.array(z.string()),
    more: z.number().int().describe('Names that were left out, since all together are too long.'),
  })
  .meta({ id: 'ChangedFiles' });
export type ChangedFiles = z.input<typeof ChangedFiles>;

type Source = Pick<Experiment, 'project_id' | 'source_sha256' | 'source_size'>;
type Files = ReadonlyMap<string, string>;

/** Reads the files of sources, as far as the bytes of one answer go; undefined for what is not read. */
function sourceReader(objects: ObjectReader): (source: Source) => Promise<Files | undefined> {
  let room = packedMaxBytes;
  let unpackedRoom = limits.maxBytes;
  return async ({ project_id, source_sha256, source_size }) => {
    if (source_sha256 === null || source_size > Math.min(room, archiveMaxBytes)) return undefined;
    room -= source_size;
    const stream = await objects.read(uploadObject('source', project_id, source_sha256));
    if (stream === undefined) return undefined;
    // Loaded with the first source.
    const { archivedFiles } = await import('../../../shared/archive/archived-files.ts');
    const { ArchiveError } = await import('../../../shared/archive/archive-error.ts');
    try {
      const { files, bytes } = await archivedFiles(await buffer(stream), {
        ...limits,
        maxBytes: unpackedRoom,
      });
      unpackedRoom -= bytes;
      return files;
    } catch (error) {
      // What a training would refuse has no files to compare.
      if (error instanceof ArchiveError) return undefined;
      throw error;
    }
  };
}

/** Compares the source of one experiment with others, by the names, sizes and checksums of their files. */
export function changedFiles(objects: ObjectReader, former: Source) {
  const read = sourceReader(objects);
  let first: Promise<Files | undefined> | undefined;
  let room = maxNames;
  const take = (names: readonly string[]): string[] =>
    [...names].sort().filter((name) => {
      room -= name.length;
      return room >= 0;
    });
  /** Null where the two are the same, or one is no archive or too large to be read here. */
  return async (latter: Source): Promise<ChangedFiles | null> => {
    if (former.source_sha256 === latter.source_sha256) return null;
    first ??= read(former);
    const before = await first;
    const after = before && (await read(latter));
    if (before === undefined || after === undefined) return null;
    const added = [...after.keys()].filter((name) => !before.has(name));
    const removed = [...before.keys()].filter((name) => !after.has(name));
    const changed = [...after.keys()].filter(
      (name) => before.has(name) && before.get(name) !== after.get(name),
    );
    const shown = { added: take(added), removed: take(removed), changed: take(changed) };
    const all = added.length + removed.length + changed.length;
    return { ...shown, more: all - shown.added.length - shown.removed.length - shown.changed.length };
  };
}
