import type { RunSource, SourceExperiment, SourceFile, SourcePoint, SourceRun } from '../source.ts';
import type { Omissions } from './omissions.ts';
import { openLocal } from './open-local.ts';
import { RunRecords } from './run-records.ts';
import type { ScratchFiles } from './scratch-files.ts';

/** What a reader of folders keeps of each run. */
interface KeptRun {
  scratch: ScratchFiles;
  /** Paths on this disk of files that are brought, by artifact path. */
  locals: Map<string, string>;
  omissions: Omissions;
}

interface FolderReader<T extends KeptRun> {
  experiments(): AsyncIterable<SourceExperiment>;
  /** Describe the runs of an experiment. */
  runs(experiment: SourceExperiment): AsyncIterable<readonly [SourceRun, T]>;
  points(kept: T): AsyncIterable<SourcePoint[]>;
  files(kept: T): AsyncIterable<SourceFile>;
  /** What belongs to no run and is not brought. */
  beside?: Omissions;
  /** What could not be read at all, with the reasons. */
  unread: readonly string[];
}

/** Return a source that reads files of this disk, and makes files of values. */
export function folderSource<T extends KeptRun>(reader: FolderReader<T>): RunSource {
  const records = new RunRecords<T>();
  return {
    experiments: () => reader.experiments(),
    async *runs(experiment) {
      for await (const [run, kept] of reader.runs(experiment)) {
        records.set(run, kept);
        yield run;
      }
    },
    points: (run) => reader.points(records.of(run)),
    files: (run) => reader.files(records.of(run)),
    async openFile(run, { path, size }) {
      const { scratch, locals } = records.of(run);
      return scratch.has(path) ? scratch.open(path) : openLocal(locals.get(path) ?? '', size);
    },
    async *models() {},
    omitted: (run) => records.of(run).omissions.counts,
    omittedBeside: () => reader.beside?.counts ?? new Map(),
    unread: () => reader.unread,
    release: (run) => records.of(run).scratch.remove(),
  };
}
