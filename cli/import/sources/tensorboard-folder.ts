import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import {
  EventFile,
  type HistogramEvent,
  type PictureEvent,
  type SoundEvent,
  type TextEvent,
} from '../../../shared/runner/metric-files/event-file.ts';
import { EventNames, folderOf } from '../../../shared/runner/metric-files/event-names.ts';
import { timeOf } from '../point-batches.ts';
import type { RunSource, SourceExperiment, SourcePoint, SourceRun } from '../source.ts';
import { filesBelow } from './files-below.ts';
import { folderSource } from './folder-source.ts';
import { linksElsewhere, Omissions } from './omissions.ts';
import { isFresh } from './run-records.ts';
import { ScratchFiles } from './scratch-files.ts';
import { valueText } from './value-text.ts';

/**
 * Read the event files that TensorBoard shows. A folder with event files is a run, named by its path; folders below it,
 * and folders such as `train` and `validation`, belong to the run of their parent, as in a job. Of several sessions with
 * hyperparameters, each is a run.
 */
export function tensorboardFolder(top: string): RunSource {
  const folder = resolve(top);
  const unread: string[] = [];
  const beside = new Omissions();
  return folderSource<EventRun>({
    beside,
    async *experiments(): AsyncGenerator<SourceExperiment> {
      if ((await eventFiles(folder)).length > 0)
        yield { id: folder, name: basename(folder), tags: [], isDeleted: false };
    },
    async *runs() {
      const { files, links } = await filesIn(folder);
      if (links > 0) beside.add(linksElsewhere, links);
      const runs = await filesByRun(folder, files);
      for (const [name, files] of runs) {
        const run = await scan(folder, name, files).catch((error: unknown) => {
          unread.push(`run ${name}: ${(error as Error).message}`);
        });
        const hasRunsBelow = [...runs.keys()].some(
          (path) => path !== name && (name === '' || path.startsWith(`${name}/`)),
        );
        // A file that only describes a search is no run.
        if (run !== undefined && !(run.isBlank && hasRunsBelow)) yield [describe(run), run] as const;
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
  /** Whether nothing was logged. */
  isBlank: boolean;
  /** Least step from which a later writer voids what this file and earlier ones have, by file. */
  voidFrom: Map<string, number>;
  scratch: ScratchFiles;
  locals: Map<string, string>;
  omissions: Omissions;
}

const isEventFile = (path: string): boolean => basename(path).includes('tfevents');

/** List the event files below a folder, by their paths with slashes. */
const eventFiles = async (folder: string): Promise<string[]> =>
  (await filesIn(folder)).files.filter(isEventFile);

/** List the files below a folder, and count the links, which are not followed. */
async function filesIn(folder: string): Promise<{ files: string[]; links: number }> {
  const files: string[] = [];
  let links = 0;
  for await (const { path, isFile } of filesBelow(folder, (name) => name !== 'node_modules'))
    if (isFile) files.push(path);
    else links += 1;
  return { files, links };
}

const partNames = /^(train|training|val|valid|validation|eval|test)$/i;

/** Return the event files of each run, and the number of its other files, by its name. */
async function filesByRun(
  folder: string,
  files: readonly string[],
): Promise<Map<string, { events: string[]; others: number }>> {
  const events = files.filter(isEventFile);
  const folders = new Set(events.map(folderOf));
  const nearest = (of: string, among: ReadonlySet<string>): string | undefined => {
    for (let above = of; ; above = folderOf(above)) {
      if (among.has(above)) return above;
      if (above === '') return undefined;
    }
  };
  const topOf = (of: string): string => {
    const above = of === '' ? undefined : nearest(folderOf(of), folders);
    if (above !== undefined) return topOf(above);
    return of !== '' && partNames.test(basename(of)) ? folderOf(of) : of;
  };
  const groups = new Map<string, string[]>();
  for (const file of events) {
    const top = topOf(folderOf(file));
    groups.set(top, [...(groups.get(top) ?? []), file]);
  }
  const sessions = await sessionsIn(folder, groups);
  const runs = new Map<string, { events: string[]; others: number }>();
  for (const file of events) {
    const name = nearest(folderOf(file), sessions) ?? topOf(folderOf(file));
    const run = runs.get(name) ?? { events: [], others: 0 };
    run.events.push(file);
    runs.set(name, run);
  }
  for (const file of files) {
    const run = isEventFile(file) ? undefined : runs.get(nearest(folderOf(file), new Set(runs.keys())) ?? '');
    if (run !== undefined) run.others += 1;
  }
  return runs;
}

/**
 * Return the folders that are runs because they have one of several sessions: `add_hparams` makes a folder below its writer's
 * for each of its calls, and Keras's example of a search has the sessions below a folder that describes the search.
 */
async function sessionsIn(
  folder: string,
  groups: ReadonlyMap<string, readonly string[]>,
): Promise<Set<string>> {
  const sessions = new Set<string>();
  for (const files of groups.values()) {
    const folders = new Set<string>();
    // A program begins a session before it writes values.
    if (new Set(files.map(folderOf)).size > 1)
      for (const path of files) if (await beginsSession(join(folder, path))) folders.add(folderOf(path));
    if (folders.size > 1) for (const session of folders) sessions.add(session);
  }
  return sessions;
}

async function beginsSession(path: string): Promise<boolean> {
  let isSession = false;
  const file = new EventFile({
    onParam() {
      isSession = true;
    },
  });
  for await (const chunk of chunksOf(path)) {
    file.read(chunk);
    break;
  }
  return isSession;
}

const bytesAtOnce = 1024 * 1024;

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path, { highWaterMark: bytesAtOnce });
}

/** Read the files once, for what a run has to say before its points. */
async function scan(
  folder: string,
  name: string,
  { events, others }: { events: string[]; others: number },
): Promise<EventRun> {
  const run: EventRun = {
    ...{ folder, name, files: events, params: new Map(), start: undefined, end: undefined, isLive: false },
    ...{ isBlank: true, bytes: 0 },
    ...{ voidFrom: new Map(), scratch: new ScratchFiles(), locals: new Map(), omissions: new Omissions() },
  };
  const starts: number[] = [];
  for (const path of events) {
    const file = new EventFile({
      onParam: (param, value) => run.params.set(param, valueText(value)),
      onStart: (step) => starts.push(step),
      onOther: (plugin) => {
        run.isBlank &&= plugin === hparams;
      },
    });
    const before = starts.length;
    for await (const chunk of chunksOf(join(folder, path)))
      for (const { time } of file.read(chunk)) {
        run.isBlank = false;
        if (timeOf(Math.round(time)) === undefined) continue;
        run.start = Math.min(run.start ?? time, time);
        run.end = Math.max(run.end ?? time, time);
      }
    run.isBlank &&= file.largeRecords === 0;
    const from = Math.min(...starts.slice(before));
    for (const earlier of events.slice(0, events.indexOf(path)))
      if (folderOf(earlier) === folderOf(path))
        run.voidFrom.set(earlier, Math.min(run.voidFrom.get(earlier) ?? Number.POSITIVE_INFINITY, from));
    const { mtimeMs, size } = await stat(join(folder, path));
    run.bytes += size;
    run.isLive ||= isFresh(mtimeMs);
  }
  run.isBlank &&= run.params.size === 0;
  if (others > 0) run.omissions.add('files beside the event files', others);
  return run;
}

/** The plugin for hyperparameters, whose values are params. */
const hparams = 'hparams';

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

/** Artifact with the texts: a line of JSON for each. */
const textsFile = 'import/history.ndjson';

async function* pointsOf({
  folder,
  files,
  voidFrom,
  isLive,
  scratch,
  omissions,
}: EventRun): AsyncGenerator<SourcePoint[]> {
  const names = new EventNames();
  const mediaNames = new EventNames();
  for (const path of files) names.add(path);
  for (const path of files) {
    const pictures: PictureEvent[] = [];
    const sounds: SoundEvent[] = [];
    const texts: TextEvent[] = [];
    const histograms: HistogramEvent[] = [];
    const file = new EventFile({
      onPicture: (picture) => pictures.push(picture),
      onSound: (sound) => sounds.push(sound),
      onText: (text) => texts.push(text),
      onHistogram: (histogram) => histograms.push(histogram),
      onOther: (plugin) => {
        if (plugin !== hparams) omissions.add(omissionOf(plugin));
      },
    });
    const from = voidFrom.get(path) ?? Number.POSITIVE_INFINITY;
    const isValid = ({ step }: { step: number }): boolean => {
      if (step >= from) omissions.add('values that a later writer replaced (purge_step)');
      return step < from;
    };
    const mediaName = (tag: string): string => mediaNames.mediaName(folderOf(path), tag);
    for await (const chunk of chunksOf(join(folder, path))) {
      const points = file
        .read(chunk)
        .filter(isValid)
        .map(({ tag, value, step, time }) => ({
          // An import keeps also what a job takes for no metric.
          key: names.nameOf(path, tag, value) ?? names.ownName(folderOf(path), tag),
          value,
          timestamp: Math.round(time),
          step,
        }));
      for (const { tag, step, file: content } of pictures.splice(0).filter(isValid))
        await scratch.write(`images/${mediaName(tag)}_step_${step}${endingOf(content)}`, content);
      for (const { tag, step, file: content } of sounds.splice(0).filter(isValid))
        await scratch.write(`sounds/${mediaName(tag)}_step_${step}.wav`, content);
      for (const { tag, step, text } of texts.splice(0).filter(isValid))
        await scratch.addLine(textsFile, JSON.stringify({ step, key: mediaName(tag), value: text }));
      for (const { tag, step, bins } of histograms.splice(0).filter(isValid))
        await scratch.addHistogram({ key: mediaName(tag), step, ...edgesAndCounts(bins) }, omissions);
      yield points;
    }
    if (file.isDamaged)
      omissions.add('event files that are damaged: what comes before the damage is brought');
    if (file.damagedRecords > 0) omissions.add('damaged records of event files', file.damagedRecords);
    if (file.largeRecords > 0) omissions.add('records of event files beyond 64 MB', file.largeRecords);
    if (file.isTorn && !isLive) omissions.add('last records that the program did not finish');
  }
}

/** Word for a value that is not brought: those of plugins, and what no plugin shows. */
const omissionOf = (plugin = 'other'): string =>
  plugin === 'graphs' ? 'graphs of TensorBoard' : `${plugin} values of TensorBoard`;

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
