import { lstat, open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, extname, join, sep } from 'node:path';
import type { AsyncBuffer } from 'hyparquet';
import { systemPrefix } from '../../../shared/metrics/system-metric.ts';
import { CliError } from '../../cli-error.ts';
import { wholeText } from '../../incomplete.ts';
import type { Pair, RunSource, SourceExperiment, SourcePoint, SourceRun } from '../source.ts';
import { filesBelow } from './files-below.ts';
import { folderSource } from './folder-source.ts';
import { linksElsewhere, Omissions } from './omissions.ts';
import { ScratchFiles } from './scratch-files.ts';
import { valueText } from './value-text.ts';

/**
 * Read what neptune-exporter has written: a folder for each project with files `<run>_part_<n>.parquet`, and beside it a
 * folder `files`. The given folder is the one with `data` and `files`, or `data` itself.
 */
export function neptuneExport(top: string): RunSource {
  const unread: string[] = [];
  return folderSource<ExportedRun>({
    async *experiments(): AsyncGenerator<SourceExperiment> {
      for (const { folder, name } of await projectsIn(top))
        yield { id: folder, name, tags: [], isDeleted: false };
    },
    async *runs({ id: folder }) {
      for (const parts of (await partsByRun(folder)).values()) {
        const exported: ExportedRun = {
          ...{ parts, files: await filesFolder(top), described: [], replaced: [], factor: 1 },
          ...{ begin: 0, found: [] },
          ...{ scratch: new ScratchFiles(), locals: new Map(), omissions: new Omissions() },
        };
        const run = await describe(exported, unread);
        if (run !== undefined) yield [run, exported] as const;
      }
    },
    points: pointsOf,
    async *files({ scratch, found, locals }) {
      yield* await scratch.list();
      for (const { path, local } of found) {
        const free = scratch.free(path, (one) => scratch.has(one) || locals.has(one));
        locals.set(free, local);
        yield { path: free, size: (await stat(local)).size };
      }
    },
    unread,
  });
}

interface ExportedRun {
  /** Parquet files, in their order. */
  parts: string[];
  /** Folder with the run's files; undefined if there is none. */
  files: string | undefined;
  /** Points that stand for single values. */
  described: { key: string; value: number }[];
  /** Values of attributes that have a later one, too. */
  replaced: Row[];
  /** Milliseconds since the epoch when the run was made; 0 if it does not say. */
  begin: number;
  /** Steps here are those of the source times this factor, because Neptune has fractions. */
  factor: number;
  scratch: ScratchFiles;
  /** Files of this disk, by the paths that they want: those of two attributes may be one. */
  found: { path: string; local: string }[];
  locals: Map<string, string>;
  omissions: Omissions;
}

/** A row of an export: one value of one attribute. */
interface Row {
  project_id: string;
  run_id: string;
  attribute_path: string;
  attribute_type: string;
  step?: number | null;
  timestamp?: Date | null;
  int_value?: bigint | null;
  float_value?: number | null;
  string_value?: string | null;
  bool_value?: boolean | null;
  datetime_value?: Date | null;
  string_set_value?: string[] | null;
  file_value?: { path: string | null } | null;
  histogram_value?: { type: string; edges: number[]; values: number[] } | null;
}

const partName = /^(.+)_part_(\d+)\.parquet$/;

async function projectsIn(top: string): Promise<{ folder: string; name: string }[]> {
  const projects: { folder: string; name: string }[] = [];
  const roots = [top, join(top, 'data')];
  for (const root of roots) {
    const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
    const folders = [
      root,
      ...entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(root, name)),
    ];
    for (const folder of folders) {
      const parts = [...(await partsByRun(folder)).values()].flat();
      if (parts.length > 0) projects.push({ folder, name: (await projectName(parts)) ?? basename(folder) });
    }
  }
  return projects;
}

/** Return the name in the first part that can be read. */
async function projectName(parts: readonly string[]): Promise<string | undefined> {
  for (const part of parts)
    try {
      // A workspace and a project.
      for await (const [row] of rowsOf(part, ['project_id']))
        if (row !== undefined) return String(row.project_id).split('/').at(-1);
    } catch {
      // The description of its run says why.
    }
  return undefined;
}

async function partsByRun(folder: string): Promise<Map<string, string[]>> {
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => partName.test(name));
  const number = (name: string): number => Number(partName.exec(name)?.[2]);
  const runs = new Map<string, string[]>();
  for (const name of names.toSorted((a, b) => number(a) - number(b) || (a < b ? -1 : 1))) {
    const run = partName.exec(name)?.[1] ?? '';
    runs.set(run, [...(runs.get(run) ?? []), join(folder, name)]);
  }
  return runs;
}

async function filesFolder(top: string): Promise<string | undefined> {
  for (const folder of [join(top, 'files'), join(top, '..', 'files')])
    if ((await lstat(folder).catch(() => undefined))?.isDirectory()) return realpath(folder);
  return undefined;
}

/** Rows that are in memory at the same time. */
const rowsAtOnce = 100_000;

/** @throws CliError for a file that is no Parquet file of this kind */
async function* rowsOf(path: string, columns?: string[]): AsyncGenerator<Row[]> {
  // In the package of the command, this library is a file of its own.
  const { parquetMetadataAsync, parquetReadObjects } = await import('hyparquet').catch(() => {
    throw new CliError(`What reads this tracker is not beside this command. ${wholeText()}`);
  });
  await using handle = await open(path);
  const { size } = await handle.stat();
  const file: AsyncBuffer = {
    byteLength: size,
    async slice(start, end = size) {
      if (start < 0 || end < start || end > size) throw new Error(`it ends before byte ${end}`);
      const bytes = new Uint8Array(end - start);
      await handle.read(bytes, 0, bytes.length, start);
      return bytes.buffer;
    },
  };
  try {
    const metadata = await parquetMetadataAsync(file);
    const total = metadata.row_groups.reduce((sum, { num_rows }) => sum + Number(num_rows), 0);
    const named = columns === undefined ? {} : { columns };
    for (let rowStart = 0; rowStart < total; rowStart += rowsAtOnce) {
      const rowEnd = Math.min(total, rowStart + rowsAtOnce);
      yield (await parquetReadObjects({ file, metadata, rowStart, rowEnd, ...named })) as unknown as Row[];
    }
  } catch (error) {
    throw new CliError(`${path} cannot be read as Parquet: ${(error as Error).message}`);
  }
}

const single = ['float', 'int', 'string', 'bool', 'datetime', 'string_set'];

/** Attributes below these are params; other single values are results, as those of a job's program. */
const settings = /^(parameters|params|hyperparameters|hyper_parameters|hparams|config|args|settings)(\/|$)/;

const describedColumns = [
  ...['project_id', 'run_id', 'attribute_path', 'attribute_type', 'step', 'int_value', 'float_value'],
  ...['string_value', 'bool_value', 'datetime_value', 'string_set_value'],
];

/** Read the single values of a run, and the finest fraction of its steps. */
async function describe(exported: ExportedRun, unread: string[]): Promise<SourceRun | undefined> {
  const values = new Map<string, Row>();
  let id = '';
  let project = '';
  let bytes = 0;
  const whole: string[] = [];
  for (const part of exported.parts)
    try {
      for await (const rows of rowsOf(part, describedColumns))
        for (const row of rows) {
          id = row.run_id;
          project = row.project_id;
          if (single.includes(row.attribute_type)) {
            const earlier = values.get(row.attribute_path);
            if (earlier !== undefined && textOfRow(earlier) !== textOfRow(row))
              exported.replaced.push(earlier);
            values.set(row.attribute_path, row);
          } else exported.factor = Math.max(exported.factor, factorOf(row.step ?? 0));
        }
      bytes += (await stat(part)).size;
      whole.push(part);
    } catch (error) {
      unread.push((error as Error).message);
    }
  exported.parts = whole;
  if (id === '') {
    for (const part of whole) unread.push(`${part} has no rows`);
    return undefined;
  }
  const text = (path: string): string => values.get(path)?.string_value ?? '';
  const time = (path: string): number | undefined => values.get(path)?.datetime_value?.getTime();
  exported.begin = time('sys/creation_time') ?? time('sys/modification_time') ?? 0;
  const params: Pair[] = [];
  const tags: Pair[] = [];
  for (const [key, row] of values) {
    const value = textOfRow(row);
    const number = row.float_value ?? (row.int_value == null ? undefined : Number(row.int_value));
    if (key === 'sys/tags' || key === 'sys/group_tags')
      tags.push(...(row.string_set_value ?? []).map((tag) => ({ key: tag, value: 'true' })));
    else if (settings.test(key)) params.push({ key, value });
    else if (number !== undefined && !key.startsWith('sys/')) exported.described.push({ key, value: number });
    else tags.push({ key, value });
  }
  const parent = text('sys/parent') || text('sys/forking/parent');
  if (parent !== '') tags.push({ key: 'mlflow.parentRunId', value: `${project}/${parent}` });
  if (text('sys/description') !== '')
    tags.push({ key: 'mlflow.note.content', value: text('sys/description') });
  if (exported.factor > 1) tags.push({ key: 'neptune.step_factor', value: String(exported.factor) });
  return {
    // An id is unique within its project only.
    id: `${project}/${id}`,
    name: text('sys/name') || text('sys/custom_run_id') || id,
    status: values.get('sys/failed')?.bool_value === true ? 'FAILED' : 'FINISHED',
    user: text('sys/owner'),
    start: time('sys/creation_time'),
    end: time('sys/modification_time'),
    isDeleted: values.get('sys/trashed')?.bool_value === true,
    params,
    tags,
    datasets: [],
    artifactUri: '',
    state: `${bytes} bytes in ${whole.length}`,
  };
}

/** Return the power of ten that makes a step whole. The schema has six decimals. */
function factorOf(step: number): number {
  for (let factor = 1; factor < 1e6; factor *= 10)
    if (Number.isInteger(rounded(step * factor))) return factor;
  return 1e6;
}

const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

function textOfRow(row: Row): string {
  if (row.bool_value != null) return valueText(row.bool_value);
  if (row.datetime_value != null) return row.datetime_value.toISOString();
  if (row.string_set_value != null) return row.string_set_value.join(', ');
  return String(row.int_value ?? row.float_value ?? row.string_value ?? '');
}

async function* pointsOf(exported: ExportedRun): AsyncGenerator<SourcePoint[]> {
  const { parts, described, replaced, factor, scratch, omissions } = exported;
  let last = exported.begin;
  const series = new Set<string>();
  for (const row of replaced) {
    const value = { key: row.attribute_path, kind: row.attribute_type, value: textOfRow(row) };
    await scratch.addLine(valuesFile, JSON.stringify(value));
    omissions.add(`values of attributes that have a later one: in ${valuesFile}`);
  }
  const damaged: unknown[] = [];
  const rowsBefore = async function* (part: string): AsyncGenerator<Row[]> {
    try {
      yield* rowsOf(part);
    } catch (error) {
      damaged.push(error);
    }
  };
  for (const part of parts)
    for await (const rows of rowsBefore(part)) {
      const points: SourcePoint[] = [];
      for (const row of rows) {
        const { attribute_path: path, attribute_type: type, timestamp } = row;
        const step = Math.round((row.step ?? 0) * factor);
        if (timestamp != null) last = timestamp.getTime();
        if (type === 'float_series' && row.float_value != null) {
          const key = nameOf(path);
          series.add(key);
          points.push({ key, value: row.float_value, timestamp: last, step });
        } else if (type === 'string_series' && row.string_value != null) {
          await scratch.addLine(`${path}.log`, row.string_value);
          if (path.startsWith(monitoring)) continue;
          const value = { step: row.step, time: timestamp, key: path, value: row.string_value };
          await scratch.addLine(valuesFile, JSON.stringify(value));
        } else if (type === 'histogram_series' && row.histogram_value != null) {
          const { edges: bins, values } = row.histogram_value;
          await scratch.addHistogram({ key: path, step, bins, values }, omissions);
        } else if (row.file_value?.path != null) await keepFile(exported, row, row.file_value.path, step);
        else if (!single.includes(type)) omissions.add(`values of the kind ${type}`);
      }
      yield points;
    }
  yield described.map(({ key, value }) => ({
    // An attribute may have become a series.
    ...{ key: series.has(key) ? `${key}.value` : key, value },
    ...{ timestamp: last, step: 0 },
  }));
  if (damaged.length > 0) throw damaged[0];
}

/** Artifact with texts at their steps, and values that were replaced: a line of JSON for each. */
const valuesFile = 'import/history.ndjson';

/** Neptune's own samples of the machine, and what a program prints, are below this. */
const monitoring = 'monitoring/';

const nameOf = (path: string): string =>
  path.startsWith(monitoring) ? systemPrefix + path.slice(monitoring.length) : path;

/** Note the files of an attribute: a file, or a folder for a set of files. */
async function keepFile(exported: ExportedRun, row: Row, path: string, step: number): Promise<void> {
  const { files, found, omissions } = exported;
  const local = files === undefined ? undefined : await realpath(join(files, path)).catch(() => undefined);
  if (files === undefined || local === undefined) return omissions.add('files that are not in the export');
  if (!local.startsWith(files + sep)) return omissions.add(linksElsewhere);
  const isSeries = row.attribute_type === 'file_series';
  const name = isSeries ? `${row.attribute_path}_step_${step}` : row.attribute_path;
  if ((await stat(local)).isFile()) {
    const ending = extname(local);
    found.push({ path: name.endsWith(ending) ? name : name + ending, local });
    return;
  }
  for await (const { path: below, isFile } of filesBelow(local))
    if (isFile) found.push({ path: `${name}/${below}`, local: join(local, below) });
    else omissions.add(linksElsewhere);
}
