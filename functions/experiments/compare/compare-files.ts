import { readJobConfig } from '../../../shared/data/jobs/job-config.ts';
import { findLocks } from '../../../shared/data/projects/environment.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import type { ChangedFiles, changedFiles } from './changed-files.ts';
import type { FoundRecords } from './compared-experiments.ts';

/** Most characters of all diffs of an answer together. */
const maxDiffs = 2_000_000;

export interface FileDiffs {
  experiment_id: string;
  /** Unified diffs; null where the two are equal, or one has no such text. */
  config: string | null;
  dependencies: string | null;
  lock: string | null;
  /** Whether both have the same source archive; if not, which of its files differ, where that is known. */
  same_source: boolean;
  changed_files: ChangedFiles | null;
  /** A diff was left out, since all together are too long. */
  omitted: boolean;
}

interface Texts {
  config: string | undefined;
  dependencies: string;
  lock: string | undefined;
}

async function readTexts(
  records: TableReader<'records'>,
  project_id: string,
  found: readonly FoundRecords[],
): Promise<Texts[]> {
  const hashes = new Set(found.flatMap(({ experiment: { lock_hash } }) => lock_hash ?? []));
  const locks = hashes.size > 1 ? await findLocks(records, project_id, hashes) : new Map<string, string>();
  return Promise.all(
    found.map(async ({ experiment: { experiment_id, lock_hash, environment } }) => {
      const config = await readJobConfig(records, experiment_id);
      return {
        config: config && Buffer.from(config).toString('utf8'),
        dependencies: environment.dependencies,
        lock: lock_hash === null ? undefined : locks.get(lock_hash),
      };
    }),
  );
}

/** In what the files of each experiment differ from those of the first. */
export async function compareFiles(
  records: TableReader<'records'>,
  project_id: string,
  found: readonly FoundRecords[],
  compareSource: ReturnType<typeof changedFiles>,
): Promise<FileDiffs[]> {
  // Loaded with the first comparison.
  const { unifiedDiff } = await import('./unified-diff.ts');
  const [first, ...others] = await readTexts(records, project_id, found);
  if (first === undefined) return [];
  let room = maxDiffs;
  const sources: (ChangedFiles | null)[] = [];
  // One after the other: of all of them only the first one's files stay in memory.
  for (const { experiment } of found.slice(1)) sources.push(await compareSource(experiment));
  return others.map((texts, index) => {
    const experiment = found[index + 1]?.experiment;
    let omitted = false;
    const diff = (name: string, former: string | undefined, latter: string | undefined): string | null => {
      if (former === undefined || latter === undefined || former === latter) return null;
      const text = room > 0 ? unifiedDiff(name, former, latter) : null;
      room -= text?.length ?? 0;
      if (text !== null && room >= 0) return text;
      omitted = true;
      return null;
    };
    const config = diff(experiment?.config_id ?? 'config', first.config, texts.config);
    const dependencies = diff('dependencies', first.dependencies, texts.dependencies);
    const lock = diff('lock', first.lock, texts.lock);
    return {
      experiment_id: experiment?.experiment_id ?? '',
      config,
      dependencies,
      lock,
      same_source: experiment?.source_sha256 === found[0]?.experiment.source_sha256,
      changed_files: sources[index] ?? null,
      omitted,
    };
  });
}
