import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { tryParseJson } from '../../../shared/core/text/try-parse-json.ts';
import type { RunSource, SourceExperiment, SourcePoint, SourceRun } from '../source.ts';
import { Omissions } from './omissions.ts';
import { openLocal } from './open-local.ts';
import { isFresh, RunRecords } from './run-records.ts';
import { valueText } from './value-text.ts';

/**
 * Read what `mps.record` of the Python package has written below `.mps/offline` (`python/README.md`), and change nothing
 * there. A run has the id by which the package finds it, too, so both may send it.
 */
export function offlineFolder(folder: string): RunSource {
  const records = new RunRecords<OfflineRun>();
  const unread: string[] = [];
  let runs: OfflineRun[] | undefined;
  return {
    async *experiments(): AsyncGenerator<SourceExperiment> {
      runs ??= await readRuns(folder, unread);
      for (const name of new Set(runs.map(({ project }) => project)))
        yield { id: name, name, tags: [], isDeleted: false };
    },
    async *runs({ id }) {
      for (const run of runs ?? [])
        if (run.project === id) {
          records.set(run.described, run);
          yield run.described;
        }
    },
    points: (run) => pointsOf(records.of(run)),
    async *files(run) {
      const { folder: own, files, omissions } = records.of(run);
      for (const [path, stored] of files) {
        const size = await sizeOf(own, stored);
        if (size === undefined) omissions.add('files that are no longer there, or lead elsewhere');
        else yield { path, size };
      }
    },
    async openFile(run, { path, size }) {
      const { folder: own, files } = records.of(run);
      return openLocal(join(own, files.get(path) ?? ''), size);
    },
    async *models() {},
    omitted: (run) => records.of(run).omissions.counts,
    unread: () => unread,
  };
}

interface OfflineRun {
  folder: string;
  project: string;
  described: SourceRun;
  /** Where the content of a file is in the folder of the run, by its artifact path. */
  files: Map<string, string>;
  omissions: Omissions;
}

const recordsFile = 'records.ndjson';

/** Read all runs in the given folder: that of the runs, the one above it, that of a program, or that of one run. */
async function readRuns(folder: string, unread: string[]): Promise<OfflineRun[]> {
  const runs: OfflineRun[] = [];
  for (const below of ['.mps/offline', 'offline', '.', '..']) {
    const above = join(folder, below);
    const entries = await readdir(above, { withFileTypes: true }).catch(() => []);
    for (const { name } of entries.filter((entry) => entry.isDirectory() && runId.test(entry.name))) {
      const own = join(above, name);
      if (below === '..' && own !== folder.replace(/[\\/]+$/, '')) continue;
      const run = await readRun(own).catch((error: unknown) => (error as Error).message);
      if (typeof run === 'string') unread.push(`${own}: ${run}`);
      else runs.push(run);
    }
  }
  return runs.toSorted((a, b) => (a.described.start ?? 0) - (b.described.start ?? 0));
}

const runId = /^[0-9a-f]{32}$/;

/** Read all of a run but its points. @throws Error for records that this version cannot read */
async function readRun(folder: string): Promise<OfflineRun> {
  const path = join(folder, recordsFile);
  if (!(await lstat(path)).isFile()) throw new Error(`${recordsFile} is no file`);
  const params = new Map<string, string>();
  const tags = new Map<string, string | undefined>();
  const files = new Map<string, string>();
  let head: Line | undefined;
  let end: Line | undefined;
  let last = 0;
  for await (const line of linesOf(path)) {
    head ??= line ?? {};
    if (line === undefined) continue;
    last = numberIn(line, 'at') ?? last;
    for (const [key, value] of valuesIn(line, 'params')) if (!params.has(key)) params.set(key, textOf(value));
    for (const [key, value] of valuesIn(line, 'tags'))
      tags.set(key, value === null ? undefined : textOf(value));
    const { path: inRun, stored } = objectIn(line, 'file');
    if (typeof inRun === 'string' && typeof stored === 'string') files.set(inRun, stored);
    if (typeof line['end'] === 'string') end = line;
  }
  if (head?.['mps'] !== 1) throw new Error('its first line is not of this version of the format');
  const { id, project, name, user } = head;
  if (typeof id !== 'string' || !runId.test(id)) throw new Error('its id has no 32 hexadecimal digits');
  if (typeof project !== 'string' || project === '') throw new Error('it names no project');
  const { size, mtimeMs } = await lstat(path);
  const isLive = end === undefined && (isAlive(head) ?? isFresh(mtimeMs));
  const status = isLive ? 'RUNNING' : statuses.find((one) => one === end?.['end']);
  const reason = { key: 'import.reason', value: 'The records end before the run ended.' };
  const described: SourceRun = {
    ...{ id, status: status ?? 'FAILED', isDeleted: false, datasets: [], artifactUri: '' },
    name: typeof name === 'string' ? name : '',
    user: typeof user === 'string' ? user : '',
    start: numberIn(head, 'at'),
    end: isLive ? undefined : last,
    params: [...params].map(([key, value]) => ({ key, value })),
    tags: [
      ...[...tags].flatMap(([key, value]) => (value === undefined ? [] : [{ key, value }])),
      ...(isLive || end !== undefined ? [] : [reason]),
    ],
    removedTags: [...tags].flatMap(([key, value]) => (value === undefined ? [key] : [])),
    state: `${size} bytes`,
  };
  return { folder, project, described, files, omissions: new Omissions() };
}

const statuses = ['FINISHED', 'FAILED', 'KILLED'];

type Line = Readonly<Record<string, unknown>>;

/**
 * Yield the lines of a file that end with a line feed, each as its object; undefined for a line that is none, as what a kill
 * tore, or one that is too long for any record.
 */
async function* linesOf(path: string): AsyncGenerator<Line | undefined> {
  await using file = await open(path);
  let rest: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  for await (const block of blocksOf(file)) {
    let from = 0;
    for (let to = block.indexOf(lineFeed); to >= 0; from = to + 1, to = block.indexOf(lineFeed, from)) {
      const line =
        rest.length === 0 ? block.subarray(from, to) : Buffer.concat([rest, block.subarray(from, to)]);
      const value = isTooLong ? undefined : tryParseJson(line.toString());
      yield isObject(value) ? value : undefined;
      rest = Buffer.alloc(0);
      isTooLong = false;
    }
    isTooLong ||= rest.length + block.length - from > maxLine;
    rest = isTooLong ? Buffer.alloc(0) : Buffer.concat([rest, block.subarray(from)]);
  }
}

const lineFeed = 10;

/** Bytes of a line. The service takes 300 KB of params and tags in all. */
const maxLine = 16_000_000;

async function* blocksOf(file: FileHandle): AsyncGenerator<Buffer> {
  const { size } = await file.stat();
  const buffer = Buffer.alloc(Math.min(size, 1_000_000));
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

const pointsAtOnce = 5000;

async function* pointsOf({ folder, omissions }: OfflineRun): AsyncGenerator<SourcePoint[]> {
  let points: SourcePoint[] = [];
  for await (const line of linesOf(join(folder, recordsFile))) {
    if (line === undefined) {
      omissions.add('lines that are no records');
      continue;
    }
    const timestamp = numberIn(line, 'at') ?? Number.NaN;
    const step = line['step'] === null ? 0 : (numberIn(line, 'step') ?? 0);
    for (const [key, value] of valuesIn(line, 'metrics'))
      if (typeof value === 'number') points.push({ key, value, timestamp, step });
      else if (typeof value === 'string' && nonFinite.has(value))
        points.push({ key, value, timestamp, step });
      else omissions.add('values of metrics that are no numbers');
    if (points.length < pointsAtOnce) continue;
    yield points;
    points = [];
  }
  yield points;
}

const nonFinite: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity']);

/** Whether the process that records a run is alive; undefined for one of another machine. */
function isAlive(head: Line): boolean | undefined {
  const pid = numberIn(head, 'pid');
  if (head['host'] !== hostname() || pid === undefined || !Number.isInteger(pid) || pid < 1) return undefined;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user may not be asked, so it is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Return the bytes of a stored file; undefined for one that is gone or a link, and for every other path. */
async function sizeOf(folder: string, stored: string): Promise<number | undefined> {
  if (!/^files\/[0-9a-f]{16}$/.test(stored)) return undefined;
  const kinds = await Promise.all(
    [join(folder, 'files'), join(folder, stored)].map((path) => lstat(path).catch(() => undefined)),
  );
  return kinds[0]?.isDirectory() && kinds[1]?.isFile() ? kinds[1].size : undefined;
}

const isObject = (value: unknown): value is Line =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const objectIn = (line: Line, field: string): Line => {
  const value = line[field];
  return isObject(value) ? value : {};
};

const valuesIn = (line: Line, field: string): [string, unknown][] => Object.entries(objectIn(line, field));

function numberIn(line: Line, field: string): number | undefined {
  const value = line[field];
  return typeof value === 'number' ? value : undefined;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : valueText(value));
