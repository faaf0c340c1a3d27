import {
  type ProtobufField,
  protobufFields,
} from '../../../../shared/runner/metric-files/protobuf-fields.ts';
import { readEnvironment, type WandbEnvironment } from './wandb-environment.ts';
import { type LogDamage, wandbRecords } from './wandb-log.ts';
import { isObject, readItem, textOf, type WandbValue } from './wandb-values.ts';

/** What the records of a run say, apart from its history and its machine metrics. */
export interface WandbRun {
  id: string;
  project: string;
  entity: string;
  group: string;
  jobType: string;
  name: string;
  notes: string;
  host: string;
  sweep: string;
  tags: string[];
  /** Milliseconds since the epoch. */
  start: number | undefined;
  git: { remote: string; commit: string };
  config: Map<string, WandbValue>;
  summary: Map<string, WandbValue>;
  /** Axes of `define_metric`, by the name or the pattern of the metric. */
  axes: Map<string, string>;
  exitCode: number | undefined;
  /** Milliseconds since the epoch, by the exit record. */
  end: number | undefined;
  /** Run and step at which it was forked. */
  fork: { run: string; step: number } | undefined;
  alerts: { title: string; text: string; level: string }[];
  environment: WandbEnvironment;
  /** Number of folders whose event files of TensorBoard W&B reads when it syncs the run. */
  eventFolders: number;
  /** Names of artifacts that the run used. */
  used: string[];
  artifacts: WandbArtifact[];
  /** Whether the records have output of the console. */
  hasOutput: boolean;
  damage: LogDamage;
}

export interface WandbArtifact {
  name: string;
  type: string;
  digest: string;
  description: string;
  /** A text of JSON; blank if there is none. */
  metadata: string;
  aliases: string[];
  /** Files, or references to files elsewhere, which have an address. */
  files: { path: string; local: string; reference: string }[];
}

/** Fields of `Record`, W&B's message in a log. */
const recordFields = {
  history: 2,
  summary: 3,
  config: 5,
  stats: 7,
  artifact: 8,
  tensorboard: 9,
  alert: 10,
  metric: 12,
  output: 13,
  run: 17,
  exit: 18,
  use: 25,
  environment: 26,
} as const;

const nothing = (): WandbRun => ({
  id: '',
  project: '',
  entity: '',
  group: '',
  jobType: '',
  name: '',
  notes: '',
  host: '',
  sweep: '',
  tags: [],
  start: undefined,
  git: { remote: '', commit: '' },
  config: new Map(),
  summary: new Map(),
  axes: new Map(),
  exitCode: undefined,
  end: undefined,
  fork: undefined,
  alerts: [],
  environment: {},
  eventFolders: 0,
  used: [],
  artifacts: [],
  hasOutput: false,
  damage: { blocks: 0, isTorn: false },
});

/** Read what a log says about its run. @returns undefined for a file that names no run */
export async function readRun(path: string): Promise<WandbRun | undefined> {
  const run = nothing();
  let runtime = 0;
  for await (const record of wandbRecords(path, run.damage))
    for (const { number, bytes } of protobufFields(record)) {
      if (number === recordFields.run) readRunRecord(run, bytes);
      else if (number === recordFields.config) change(run.config, bytes, true);
      else if (number === recordFields.summary) change(run.summary, bytes);
      else if (number === recordFields.exit) {
        run.exitCode = exitCodeOf(bytes);
        runtime = Number(field(bytes, 2)?.integer ?? 0n);
      } else if (number === recordFields.metric) readAxis(run.axes, bytes);
      else if (number === recordFields.artifact) run.artifacts.push(readArtifact(bytes));
      else if (number === recordFields.use) run.used.push(texts(bytes).get(3) ?? '');
      else if (number === recordFields.output) run.hasOutput = true;
      else if (number === recordFields.tensorboard) run.eventFolders += 1;
      else if (number === recordFields.environment) readEnvironment(run.environment, bytes);
      else if (number === recordFields.alert) {
        const [title = '', text = '', level = ''] = [1, 2, 3].map((key) => texts(bytes).get(key));
        run.alerts.push({ title, text, level });
      }
    }
  if (run.exitCode !== undefined && run.start !== undefined) run.end = run.start + runtime * 1000;
  return run.id === '' ? undefined : run;
}

/** Yield the console's output in a log. */
export async function* outputOf(path: string): AsyncGenerator<Uint8Array> {
  for await (const record of wandbRecords(path))
    for (const { number, bytes } of protobufFields(record))
      if (number === recordFields.output) yield field(bytes, 3)?.bytes ?? new Uint8Array();
}

/** Row of a run's history, or of its machine metrics. */
export interface WandbRow {
  kind: 'history' | 'stats';
  step: number;
  /** Milliseconds since the epoch; undefined where the row does not say it. */
  time: number | undefined;
  values: Map<string, WandbValue>;
}

/** Yield the rows of a log, in its order. Machine metrics are numbered from 0. */
export async function* rowsOf(path: string): AsyncGenerator<WandbRow> {
  let samples = 0;
  for await (const record of wandbRecords(path))
    for (const { number, bytes } of protobufFields(record)) {
      if (number === recordFields.history) yield historyRow(bytes);
      else if (number === recordFields.stats) {
        yield statsRow(bytes, samples);
        samples += 1;
      }
    }
}

function historyRow(message: Uint8Array): WandbRow {
  const values = new Map<string, WandbValue>();
  let step = 0;
  for (const { number, bytes } of protobufFields(message)) {
    if (number === 1) readItem(bytes, values);
    else if (number === 2) step = Number(BigInt.asIntN(64, field(bytes, 1)?.integer ?? 0n));
  }
  const written = values.get('_step');
  const time = values.get('_timestamp');
  return {
    kind: 'history',
    step: typeof written === 'number' ? written : step,
    time: typeof time === 'number' ? Math.round(time * 1000) : undefined,
    values,
  };
}

function statsRow(message: Uint8Array, step: number): WandbRow {
  const values = new Map<string, WandbValue>();
  let time: number | undefined;
  for (const { number, bytes } of protobufFields(message)) {
    if (number === 2) time = timestampOf(bytes);
    else if (number === 3) readItem(bytes, values);
  }
  return { kind: 'stats', step, time, values };
}

function readRunRecord(run: WandbRun, message: Uint8Array): void {
  // Each record has all tags of its time.
  run.tags = [];
  for (const { number, bytes } of protobufFields(message)) {
    const name = runTexts[number];
    if (name !== undefined) run[name] = textOf(bytes);
    else if (number === 4) change(run.config, bytes, true);
    else if (number === 10) run.tags.push(textOf(bytes));
    else if (number === 17) run.start = timestampOf(bytes);
    else if (number === 21) {
      const [remote = '', commit = ''] = [texts(bytes).get(1), texts(bytes).get(2)];
      run.git = { remote, commit };
    } else if (number === 23) {
      const step = field(bytes, 2)?.bytes;
      const value = step?.length === 8 ? Buffer.from(step).readDoubleLE() : 0;
      run.fork = { run: texts(bytes).get(1) ?? '', step: value };
    }
  }
}

/** Texts of `RunRecord`, by their fields. */
const runTexts: Readonly<
  Record<number, 'id' | 'entity' | 'project' | 'group' | 'jobType' | 'name' | 'notes' | 'sweep' | 'host'>
> = {
  1: 'id',
  2: 'entity',
  3: 'project',
  6: 'group',
  7: 'jobType',
  8: 'name',
  9: 'notes',
  12: 'sweep',
  13: 'host',
};

/** Apply the updates and removals of a `ConfigRecord` or a `SummaryRecord`. */
function change(values: Map<string, WandbValue>, message: Uint8Array, keepsDigits = false): void {
  for (const { number, bytes } of protobufFields(message)) {
    if (number === 1) readItem(bytes, values, keepsDigits);
    else if (number === 2) {
      const removed = [...protobufFields(bytes)].filter((part) => part.number === 1 || part.number === 2);
      const path = removed.map((part) => textOf(part.bytes));
      remove(values, path);
    }
  }
}

function remove(values: Map<string, WandbValue>, [first = '', ...path]: readonly string[]): void {
  const last = path.pop();
  if (last === undefined) {
    values.delete(first);
    return;
  }
  let object = values.get(first);
  for (const name of path)
    object = isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
  if (isObject(object)) delete object[last];
}

function readAxis(axes: Map<string, string>, message: Uint8Array): void {
  const fields = texts(message);
  const metric = fields.get(1) ?? fields.get(2);
  const axis = fields.get(4);
  if (metric !== undefined && axis !== undefined && axis !== '') axes.set(metric, axis);
}

function readArtifact(message: Uint8Array): WandbArtifact {
  const fields = texts(message);
  const artifact: WandbArtifact = {
    ...{ name: fields.get(5) ?? '', type: fields.get(4) ?? '', digest: fields.get(6) ?? '' },
    ...{ description: fields.get(7) ?? '', metadata: fields.get(8) ?? '', aliases: [], files: [] },
  };
  for (const { number, bytes } of protobufFields(message))
    if (number === 11) artifact.aliases.push(textOf(bytes));
  const manifest = field(message, 12)?.bytes ?? new Uint8Array();
  for (const { number, bytes } of protobufFields(manifest))
    if (number === 4) {
      const entry = texts(bytes);
      const [path = '', local = '', reference = ''] = [1, 6, 3].map((key) => entry.get(key));
      artifact.files.push({ path, local, reference });
    }
  return artifact;
}

/** A 32-bit exit code; protobuf leaves 0 out. */
const exitCodeOf = (message: Uint8Array): number =>
  Number(BigInt.asIntN(32, field(message, 1)?.integer ?? 0n));

/** Return a `google.protobuf.Timestamp` in milliseconds. */
function timestampOf(message: Uint8Array): number {
  const seconds = BigInt.asIntN(64, field(message, 1)?.integer ?? 0n);
  return Number(seconds) * 1000 + Math.round(Number(field(message, 2)?.integer ?? 0n) / 1e6);
}

function field(message: Uint8Array, wanted: number): ProtobufField | undefined {
  let last: ProtobufField | undefined;
  for (const candidate of protobufFields(message)) if (candidate.number === wanted) last = candidate;
  return last;
}

/** Return the texts of a message by their fields. */
function texts(message: Uint8Array): Map<number, string> {
  return new Map([...protobufFields(message)].map(({ number, bytes }) => [number, textOf(bytes)]));
}
