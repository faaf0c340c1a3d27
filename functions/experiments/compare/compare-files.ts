import { buffer } from 'node:stream/consumers';
import * as z from 'zod';
import type { ObjectReader } from '../../../shared/aws/objects.ts';
import type { Experiment } from '../../../shared/data/experiments/experiment.ts';
import { readJobConfig } from '../../../shared/data/jobs/job-config.ts';
import { findLocks } from '../../../shared/data/projects/environment.ts';
import { uploadObject } from '../../../shared/data/projects/upload.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import type { FoundRecords } from './comparison.ts';
import { diffTexts, noDiffs, type TextDiffs, type Texts } from './diff-texts.ts';

/** Diff the files of each experiment against those of the first one. */
export async function compareFiles(
  records: TableReader<'records'>,
  project_id: string,
  found: readonly FoundRecords[],
  compareSource: ReturnType<typeof changedFiles>,
): Promise<FileDiffs[]> {
  const [first, ...others] = await readTexts(records, project_id, found);
  if (first === undefined) return [];
  const sources: (ChangedFiles | null)[] = [];
  // Sequential: only the files of the first source stay in memory.
  for (const { experiment } of found.slice(1)) sources.push(await compareSource(experiment));
  const diffs = await diffTexts(first, others);
  return found.slice(1).map(({ experiment: { experiment_id, source_sha256 } }, index) => ({
    experiment_id,
    ...(diffs[index] ?? noDiffs),
    same_source: source_sha256 === found[0]?.experiment.source_sha256,
    changed_files: sources[index] ?? null,
  }));
}

/** Compare the source of one experiment with others, by the names, sizes and checksums of their files. */
export function changedFiles(objects: ObjectReader, former: Source) {
  const read = sourceReader(objects);
  let first: Promise<Files | undefined> | undefined;
  let room = maxNames;
  const take = (names: readonly string[]): string[] =>
    [...names].sort().filter((name) => {
      room -= name.length;
      return room >= 0;
    });
  /** Null if the sources are equal, or if one is not an archive or is too large to read here. */
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

type Source = Pick<Experiment, 'project_id' | 'source_sha256' | 'source_size'>;

/**
 * Read the files of sources within the byte limit of one response. Return undefined for a source that is not read.
 */
function sourceReader(objects: ObjectReader): (source: Source) => Promise<Files | undefined> {
  let room = packedMaxBytes;
  let unpackedRoom = limits.maxBytes;
  return async ({ project_id, source_sha256, source_size }) => {
    if (source_sha256 === null || source_size > Math.min(room, archiveMaxBytes)) return undefined;
    room -= source_size;
    const stream = await objects.read(uploadObject('source', project_id, source_sha256));
    if (stream === undefined) return undefined;
    // Load the archive reader with the first source.
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
      // A training would refuse this archive, so it has no files to compare.
      if (error instanceof ArchiveError) return undefined;
      throw error;
    }
  };
}

type Files = ReadonlyMap<string, string>;

const packedMaxBytes = 64 * 1024 * 1024;
const limits = { maxEntries: 50_000, maxBytes: 256 * 1024 * 1024, maxPathBytes: 4096, maxDepth: 100 };

/**
 * Largest archive that a comparison reads, and limits for all archives together, packed and unpacked, in bytes.
 */
const archiveMaxBytes = 32 * 1024 * 1024;

/** Maximum number of characters of all file names in a response. */
const maxNames = 500_000;

/** Names of the files in which two sources differ. */
export const ChangedFiles = z
  .object({
    added: z.array(z.string()),
    removed: z.array(z.string()),
    changed: z.array(z.string()),
    more: z.number().int().describe('Number of names left out because the list is too long.'),
  })
  .meta({ id: 'ChangedFiles' });
export type ChangedFiles = z.input<typeof ChangedFiles>;

interface FileDiffs extends TextDiffs {
  experiment_id: string;
  /** Whether both have the same source archive. If not, `changed_files` lists the files that differ, if known. */
  same_source: boolean;
  changed_files: ChangedFiles | null;
}

async function readTexts(
  records: TableReader<'records'>,
  project_id: string,
  found: readonly FoundRecords[],
): Promise<Texts[]> {
  const hashes = new Set(found.flatMap(({ experiment: { lock_hash } }) => lock_hash ?? []));
  const locks = hashes.size > 1 ? await findLocks(records, project_id, hashes) : new Map<string, string>();
  return Promise.all(
    found.map(async ({ experiment: { experiment_id, config_id, lock_hash, environment } }) => {
      const config = await readJobConfig(records, experiment_id);
      return {
        config_id,
        config: config && Buffer.from(config).toString('utf8'),
        dependencies: environment.dependencies,
        lock: lock_hash === null ? undefined : locks.get(lock_hash),
      };
    }),
  );
}
