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
  /** Milliseconds since 1970; undefined where it was never noted. */
  start: number | undefined;
  end: number | undefined;
  isDeleted: boolean;
  params: readonly Pair[];
  tags: readonly Pair[];
  metrics: readonly string[];
  /** As `runs/log-inputs` takes them. */
  datasets: readonly object[];
  /** Address of its artifacts, by which versions of models name their files. */
  artifactUri: string;
}

export interface SourcePoint {
  key: string;
  /** What JSON has no number for is text, as MLflow writes it. */
  value: number | string;
  timestamp: number;
  step: number;
}

export interface SourceFile {
  /** With slashes, below the artifacts of its run. */
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
  /** In the order of their numbers. */
  versions: readonly SourceVersion[];
}

/** What is imported from: a tracking server, or the folder of one. */
export interface MlflowSource {
  experiments(): AsyncIterable<SourceExperiment>;
  runs(experiment: SourceExperiment): AsyncIterable<SourceRun>;
  /** The history of a metric, some thousand points at a time. */
  points(run: SourceRun, metric: string): AsyncIterable<SourcePoint[]>;
  files(run: SourceRun): AsyncIterable<SourceFile>;
  openFile(run: SourceRun, path: string): Promise<Readable>;
  models(): AsyncIterable<SourceModel>;
}
