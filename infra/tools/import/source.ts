import type { Readable } from 'node:stream';

export interface Pair {
  key: string;
  value: string;
}

export interface SourceExperiment {
  id: string;
  name: string;
  tags: readonly Pair[];
  isDeleted: boolean;
}

export interface SourceRun {
  id: string;
  name: string;
  status: string;
  user: string;
  /** Milliseconds since the epoch; undefined if it was never recorded. */
  start: number | undefined;
  end: number | undefined;
  isDeleted: boolean;
  params: readonly Pair[];
  tags: readonly Pair[];
  metrics: readonly string[];
  /** In the format of `runs/log-inputs`. */
  datasets: readonly object[];
  /** Address of its artifacts. Model versions refer to their files by it. */
  artifactUri: string;
}

export interface SourcePoint {
  key: string;
  /** A value without a JSON number is a string, as MLflow writes it. */
  value: number | string;
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

/** The source of an import: a tracking server, or its folder. */
export interface MlflowSource {
  experiments(): AsyncIterable<SourceExperiment>;
  runs(experiment: SourceExperiment): AsyncIterable<SourceRun>;
  /** Yield the history of a metric, some thousand points at a time. */
  points(run: SourceRun, metric: string): AsyncIterable<SourcePoint[]>;
  files(run: SourceRun): AsyncIterable<SourceFile>;
  openFile(run: SourceRun, path: string): Promise<Readable>;
  models(): AsyncIterable<SourceModel>;
}
