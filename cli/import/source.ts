import type { Readable } from 'node:stream';

export interface Pair {
  key: string;
  value: string;
}

/** Runs that belong together. They become a project of the same name. */
export interface SourceExperiment {
  id: string;
  name: string;
  tags: readonly Pair[];
  isDeleted: boolean;
  /** ID of the project that the user chose for the runs, if it exists. */
  project_id?: string | undefined;
}

export interface SourceRun {
  /** The same at each import, and unique within its source. */
  id: string;
  name: string;
  /** Status by MLflow's names, such as `FINISHED`. */
  status: string;
  user: string;
  /** Milliseconds since the epoch; undefined if it was never recorded. */
  start: number | undefined;
  end: number | undefined;
  isDeleted: boolean;
  params: readonly Pair[];
  tags: readonly Pair[];
  /** Tags that it had once: what was sent before may have them. */
  removedTags?: readonly string[];
  /** In the format of `runs/log-inputs`. */
  datasets: readonly object[];
  /** Address of its artifacts. Model versions refer to their files by it. */
  artifactUri: string;
  /** Models that MLflow 3 keeps beside the run. Their files come as artifacts of the run. */
  loggedModels?: readonly LoggedModel[] | undefined;
  /** Changes when the source has more of the run. */
  state?: string;
}

export interface LoggedModel {
  id: string;
  /** Address of its files. Model versions refer to them by it, or by `models:/ID`. */
  artifactUri: string;
  /** Where its files come among the artifacts of its run. */
  folder: string;
  /** Number of its params and tags that its run does not have. They are not brought. */
  ownFacts: number;
}

export interface SourcePoint {
  key: string;
  /** Trackers that write JSON have texts for numbers that JSON lacks, as MLflow has. */
  value: number | string;
  /** Milliseconds since the epoch. */
  timestamp: number;
  step: number;
}

export interface SourceFile {
  /** Path with slashes, relative to the artifacts of its run. */
  path: string;
  /** Bytes. */
  size: number;
}

export interface SourceVersion {
  number: number;
  description: string;
  source: string;
  runId: string;
  runLink: string;
  stage: string;
  tags: readonly Pair[];
}

export interface SourceModel {
  name: string;
  description: string;
  tags: readonly Pair[];
  aliases: readonly { alias: string; version: number }[];
  /** Sorted by number. */
  versions: readonly SourceVersion[];
}

/** What another tracker has recorded. Of one run, points are read first, then files. */
export interface RunSource {
  experiments(): AsyncIterable<SourceExperiment>;
  runs(experiment: SourceExperiment): AsyncIterable<SourceRun>;
  /** Yield all points of a run, some thousand at a time. */
  points(run: SourceRun): AsyncIterable<SourcePoint[]>;
  files(run: SourceRun): AsyncIterable<SourceFile>;
  openFile(run: SourceRun, file: SourceFile): Promise<Readable>;
  models(): AsyncIterable<SourceModel>;
  /** Return what of a run, once it is read, cannot be brought, each with its reason and number. */
  omitted?(run: SourceRun): ReadonlyMap<string, number>;
  /** Return what belongs to no run and cannot be brought, once all runs and models are described. */
  omittedBeside?(): ReadonlyMap<string, number>;
  /** Return what cannot be read at all, with the reasons, once all runs and models are described. */
  unread?(): readonly string[];
  /** Remove what was kept on this disk for the import of a run. */
  release?(run: SourceRun): Promise<void>;
  /** End what reads the source. */
  close?(): Promise<void>;
}
