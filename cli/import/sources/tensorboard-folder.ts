import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { shownDouble } from '../../../shared/mlflow/protocol/scalars.ts';
import {
  EventFile,
  type HistogramEvent,
  type PictureEvent,
} from '../../../shared/runner/metric-files/event-file.ts';
import { EventNames, folderOf } from '../../../shared/runner/metric-files/event-names.ts';
import type { RunSource, SourceExperiment, SourcePoint, SourceRun } from '../source.ts';
import { filesBelow } from './files-below.ts';
import { folderSource } from './folder-source.ts';
import { Omissions } from './omissions.ts';
import { isFresh } from './run-records.ts';
import { ScratchFiles } from './scratch-files.ts';
import { valueText } from './value-text.ts';

/**
 * Read the event files that TensorBoard shows. A folder with event files is a run, named by its path; folders below it,
 * and folders such as `train` and `validation`, belong to the run of their parent, as in a job.
 */
export function tensorboardFolder(top: string): RunSource {
  const folder = resolve(top);
  const unread: string[] = [];
  return folderSource<EventRun>({
    async *experiments(): AsyncGenerator<SourceExperiment> {
      if ((await eventFiles(folder)).length > 0)
        yield { id: folder, name: basename(folder), tags: [], isDeleted: false };
    },
    async *runs() {
      for (const [name, files] of await filesByRun(folder)) {
        const run = await scan(folder, name, files).catch((error: unknown) => {
          unread.push(`run ${name}: ${(error as Error).message}`);
        });
        if (run !== undefined) yield [describe(run), run] as const;
      }
    },
    points: pointsOf,
    async *files({ scratch }) {
      yield* await scratch.list();
    },
    unread,
  });
}

interface EventRun {
  folder: string;
  /** Path of the run below the folder; empty for the folder itself. */
  name: string;
  /** Paths below the folder, in the order in which they were begun. */
  files: string[];
  params: Map<string, string>;
  /** Milliseconds since the epoch of the first and the last scalar. */
  start: number | undefined;
  end: number | undefined;
  isLive: boolean;
  /** Bytes of its files. */
  bytes: number;
  /** Least step from which a later writer voids what this file and earlier ones have, by file. */
  voidFrom: Map<string, number>;
  scratch: ScratchFiles;
  locals: Map<string, string>;
  omissions: Omissions;
}

const isEventFile = (path: string): boolean => basename(path).includes('tfevents');

/** List the event files below a folder, by their paths with slashes. */
async function eventFiles(folder: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path, isFile } of filesBelow(folder, (name) => name !== 'node_modules'))
    if (isFile && isEventFile(path)) paths.push(path);
  return paths;
}

const partNames = /^(train|training|val|valid|validation|eval|test)$/i;

async function filesByRun(folder: string): Promise<Map<string, string[]>> {
  const files = await eventFiles(folder);
  const folders = new Set(files.map(folderOf));
  const runOf = (of: string): string => {
    let above = of;
    while (above !== '') {
      above = folderOf(above);
      if (folders.has(above)) return runOf(above);
    }
    return of !== '' && partNames.test(basename(of)) ? folderOf(of) : of;
  };
  const runs = new Map<string, string[]>();
  for (const file of files) {
    const name = runOf(folderOf(file));
    runs.set(name, [...(runs.get(name) ?? []), file]);
  }
  return runs;
}

const bytesAtOnce = 1024 * 1024;

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path, { highWaterMark: bytesAtOnce });
}

/** Read the files once, for what a run has to say before its points. */
async function scan(folder: string, name: string, files: string[]): Promise<EventRun> {
  const run: EventRun = {
    ...{ folder, name, files, params: new Map(), start: undefined, end: undefined, isLive: false, bytes: 0 },
    ...{ voidFrom: new Map(), scratch: new ScratchFiles(), locals: new Map(), omissions: new Omissions() },
  };
  const starts: number[] = [];
  for (const path of files) {
    const file = new EventFile({
      onParam: (param, value) => run.params.set(param, valueText(value)),
      onStart: (step) => starts.push(step),
    });
    const before = starts.length;
    for await (const chunk of chunksOf(join(folder, path)))
      for (const { time } of file.read(chunk)) {
        run.start = Math.min(run.start ?? time, time);
        run.end = Math.max(run.end ?? time, time);
      }
    const from = Math.min(...starts.slice(before));
    for (const earlier of files.slice(0, files.indexOf(path)))
      if (folderOf(earlier) === folderOf(path))
        run.voidFrom.set(earlier, Math.min(run.voidFrom.get(earlier) ?? Number.POSITIVE_INFINITY, from));
    if (file.isDamaged)
      run.omissions.add('event files that are damaged: what comes before the damage is brought');
    const { mtimeMs, size } = await stat(join(folder, path));
    run.bytes += size;
    run.isLive ||= isFresh(mtimeMs);
  }
  return run;
}

const describe = ({ folder, name, files, params, start, end, isLive, bytes }: EventRun): SourceRun => ({
  // The oldest file, whose name has time, machine and process, tells it from an equal name in another folder.
  id: `${name === '' ? '.' : name}/${files.map((path) => basename(path)).sort()[0]}`,
  name: name === '' ? basename(folder) : name,
  status: isLive ? 'RUNNING' : 'FINISHED',
  user: '',
  start: start === undefined ? undefined : Math.round(start),
  end: isLive || end === undefined ? undefined : Math.round(end),
  isDeleted: false,
  params: [...params].map(([key, value]) => ({ key, value })),
  tags: [],
  datasets: [],
  artifactUri: '',
  state: `${bytes} bytes in ${files.length}`,
});

async function* pointsOf({
  folder,
  files,
  voidFrom,
  scratch,
  omissions,
}: EventRun): AsyncGenerator<SourcePoint[]> {
  const names = new EventNames();
  for (const path of files) names.add(path);
  for (const path of files) {
    const pictures: PictureEvent[] = [];
    const histograms: HistogramEvent[] = [];
    const file = new EventFile({
      onPicture: (picture) => pictures.push(picture),
      onHistogram: (histogram) => histograms.push(histogram),
      onOther: (plugin) => omissions.add(`${plugin ?? 'other'} values of TensorBoard`),
    });
    const from = voidFrom.get(path) ?? Number.POSITIVE_INFINITY;
    for await (const chunk of chunksOf(join(folder, path))) {
      const points = file
        .read(chunk)
        .filter(({ step }) => step < from)
        .map(({ tag, value, step, time }) => ({
          // An import keeps also what a job takes for no metric.
          key: names.nameOf(path, tag, value) ?? names.ownName(folderOf(path), tag),
          value: shownDouble(value),
          timestamp: Math.round(time),
          step,
        }));
      for (const { tag, step, file: content } of pictures.splice(0))
        if (step < from) await scratch.write(`images/${tag}_step_${step}${endingOf(content)}`, content);
      for (const { tag: key, step, bins } of histograms.splice(0))
        if (step < from) await scratch.addHistogram({ key, step, ...edgesAndCounts(bins) }, omissions);
      yield points;
    }
  }
}

/** Return bins as W&B's histograms are here: the edges, and the number of values between two of them. */
function edgesAndCounts(bins: HistogramEvent['bins']): { bins: number[]; values: number[] } {
  const edges = bins.slice(0, 1).map(({ low }) => low);
  const values: number[] = [];
  for (const { low, high, count } of bins) {
    // Bins without values are not in the event.
    if (low !== edges.at(-1)) {
      edges.push(low);
      values.push(0);
    }
    edges.push(high);
    values.push(count);
  }
  return { bins: edges, values };
}

/** Ending for a picture, by its first bytes. */
function endingOf(content: Uint8Array): string {
  if (content[0] === 0x89) return '.png';
  return content[0] === 0xff ? '.jpg' : '.gif';
}
