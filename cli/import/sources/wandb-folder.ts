import { lstat, readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';
import type { Pair, RunSource, SourceExperiment, SourceFile, SourcePoint, SourceRun } from '../source.ts';
import { filesBelow } from './files-below.ts';
import { folderSource } from './folder-source.ts';
import { linksElsewhere, Omissions } from './omissions.ts';
import { jsonText, valueText } from './value-text.ts';
import { type ReadRun, readRuns } from './wandb/read-runs.ts';
import { artifactFiles, artifactsFile, describeArtifacts } from './wandb/wandb-artifacts.ts';
import { outputOf, rowsOf, type WandbRow, type WandbRun } from './wandb/wandb-run.ts';
import { machineName } from './wandb/wandb-stats.ts';
import {
  flatValues,
  isMedia,
  isObject,
  numberOf,
  valuesOfProgram,
  type WandbValue,
} from './wandb/wandb-values.ts';

/**
 * Read the run folders that W&B's package writes, offline or synced, below a folder. Neither an account nor the package is
 * needed. A resumed run has several folders with one id.
 */
export function wandbFolder(folder: string): RunSource {
  const unread: string[] = [];
  const beside = new Omissions();
  let projects: Map<string, ReadRun[]> | undefined;
  return folderSource<ReadRun>({
    beside,
    async *experiments(): AsyncGenerator<SourceExperiment> {
      projects ??= await readRuns(folder, unread, beside);
      for (const name of projects.keys()) yield { id: name, name, tags: [], isDeleted: false };
    },
    async *runs({ id }) {
      for (const run of projects?.get(id) ?? []) {
        let described: SourceRun;
        try {
          described = describe(run);
        } catch (error) {
          unread.push(`run ${run.run.id}: ${(error as Error).message}`);
          continue;
        }
        yield [described, run] as const;
      }
    },
    points: pointsOf,
    files: (run) => filesOf(run, folder),
    unread,
  });
}

function describe({ run, logs, bytes, isLive, changed, rewoundTo }: ReadRun): SourceRun {
  const pair = (key: string, value: string): Pair[] => (value === '' ? [] : [{ key, value }]);
  // An id is unique within its project only.
  const idOf = (id: string): string => [run.entity, run.project, id].filter((part) => part !== '').join('/');
  const { fork, environment } = run;
  const git = isObject(environment['git'] as WandbValue) ? Object(environment['git']) : {};
  return {
    id: idOf(run.id),
    name: run.name,
    status: isLive ? 'RUNNING' : run.exitCode === 0 ? 'FINISHED' : 'FAILED',
    user: '',
    start: run.start,
    end: isLive ? undefined : endOf(run, changed),
    isDeleted: false,
    params: [...flatValues(valuesOfProgram(run.config))].map(([key, value]) => ({
      key,
      value: valueText(value),
    })),
    tags: [
      ...run.tags.map((key) => ({ key, value: 'true' })),
      ...pair('mlflow.note.content', run.notes),
      ...pair('mlflow.source.git.commit', run.git.commit || valueText(git.commit ?? '')),
      ...pair('mlflow.source.git.repoURL', run.git.remote || valueText(git.remote ?? '')),
      ...(fork === undefined ? [] : pair('mlflow.parentRunId', idOf(fork.run))),
      ...(fork === undefined ? [] : pair('wandb.forked_from', `${fork.run}?_step=${fork.step}`)),
      ...pair('wandb.rewound_to', rewoundTo === undefined ? '' : String(rewoundTo)),
      ...pair('wandb.entity', run.entity),
      ...pair('wandb.project', run.project),
      ...pair('wandb.group', run.group),
      ...pair('wandb.job_type', run.jobType),
      ...pair('wandb.sweep', run.sweep),
      ...pair('wandb.host', run.host),
      ...pair('wandb.exit_code', run.exitCode === undefined ? '' : String(run.exitCode)),
      ...pair('wandb.used_artifacts', [...new Set(run.used)].join(', ')),
      ...pair('wandb.step_metric', run.axes.size === 0 ? '' : JSON.stringify(Object.fromEntries(run.axes))),
      ...(isLive || run.exitCode !== undefined
        ? []
        : pair('import.reason', 'The records end before the run ended.')),
      ...finalTexts(run),
    ],
    datasets: [],
    artifactUri: '',
    state: `${bytes} bytes in ${logs.length}`,
  };
}

/** Return when a run ended: by the exit record, its last row, or the last change of its file. */
function endOf({ end, summary }: WandbRun, changed: number): number {
  if (end !== undefined) return end;
  const last = summary.get('_timestamp');
  return Math.round(typeof last === 'number' ? last * 1000 : changed);
}

/** Texts and lists of the summary are tags, as those that a program logs. */
const finalTexts = (run: WandbRun): Pair[] =>
  [...flatValues(valuesOfProgram(run.summary))]
    .filter(([, value]) => numberOf(value) === undefined && !isMedia(value) && value !== null)
    .map(([key, value]) => ({ key, value: valueText(value) }));

/** Artifact with everything of the history that is no number: a line of JSON for each value. */
const valuesFile = 'import/history.ndjson';

/** Artifact with the alerts of a program: a line of JSON for each. */
const alertsFile = 'import/alerts.ndjson';

/** File of the program, machine and git, which newer versions have in the records. */
const environmentFile = 'wandb-metadata.json';

const pointsAtOnce = 5000;

async function* pointsOf(read: ReadRun): AsyncGenerator<SourcePoint[]> {
  const { run, logs, last, omissions } = read;
  const seen = new Map<string, number>();
  const kept = new Set<string>();
  let points: SourcePoint[] = [];
  for (const { path, until } of logs)
    for await (const row of rowsOf(path)) {
      if (row.kind === 'history' && row.step > until) {
        omissions.add('rows that the run replaced when it was rewound');
        continue;
      }
      const timestamp = row.time ?? last.time;
      if (row.kind === 'history')
        Object.assign(last, { step: Math.max(last.step, row.step), time: timestamp });
      for (const [name, value] of flatValues(valuesOfProgram(row.values))) {
        const number = numberOf(value);
        if (number === undefined) {
          kept.add(name);
          await keepValue(read, row, name, value);
        } else {
          const key = row.kind === 'stats' ? machineName(name) : name;
          points.push({ key, value: number, timestamp, step: row.step });
          if (row.kind === 'history') seen.set(key, number);
        }
      }
      if (points.length < pointsAtOnce) continue;
      yield points;
      points = [];
    }
  // While a run goes on, its summary changes.
  const summary = read.isLive ? [] : valuesOfProgram(run.summary);
  for (const [key, value] of flatValues(summary)) {
    const number = numberOf(value);
    // Tags have the texts. Pictures and the like may be of the summary alone.
    if (number === undefined && (isMedia(value) || value === null) && !kept.has(key))
      await keepValue(read, last, key, value);
    if (number === undefined || Object.is(seen.get(key), number)) continue;
    // The summary of a metric that was logged, too, is its best value or one that the program set.
    const name = seen.has(key) ? `${key}.summary` : key;
    points.push({ key: name, value: number, timestamp: last.time, step: last.step });
  }
  yield points;
  for (const alert of run.alerts) await read.scratch.addLine(alertsFile, JSON.stringify(alert));
  if (run.eventFolders > 0)
    omissions.add('folders of TensorBoard (sync_tensorboard): import them as such', run.eventFolders);
  const { blocks, isTorn } = run.damage;
  if (blocks > 0) omissions.add('damaged blocks of the records', blocks);
  if (isTorn && !read.isLive) omissions.add('last records that the program did not finish');
}

const maxHistograms = 500;
/** W&B allows 512 bins. */
const maxBins = 4_096;

/** Keep a value of the history that is no number. */
async function keepValue(
  { scratch, media, omissions }: ReadRun,
  { step }: Pick<WandbRow, 'step'>,
  key: string,
  value: WandbValue,
): Promise<void> {
  await scratch.addLine(valuesFile, jsonText({ step, key, value: media.inValue(value) }));
  if (!isMedia(value) || value['_type'] !== 'histogram') return;
  if (scratch.count > maxHistograms) {
    omissions.add(`histograms beyond ${maxHistograms} of a run: in ${valuesFile}`);
    return;
  }
  const path = `histograms/${key.replace(/[^\w.\-/]/g, '_')}_step_${step}.json`;
  await scratch.write(path, JSON.stringify({ bins: edgesOf(value), values: value['values'] ?? null }));
}

/** Return the edges of the bins of W&B's histogram, which has bins of one size packed. */
function edgesOf({ bins = null, packedBins }: { [name: string]: WandbValue }): WandbValue {
  if (!isObject(packedBins)) return bins;
  const { min, size, count } = packedBins;
  if (typeof min !== 'number' || typeof size !== 'number' || typeof count !== 'number') return bins;
  const edges = Math.min(Math.max(0, Math.floor(count)), maxBins) + 1;
  return Array.from({ length: edges }, (_, at) => min + at * size);
}

async function* filesOf(read: ReadRun, top: string): AsyncGenerator<SourceFile> {
  const { run, media, scratch, locals, omissions } = read;
  const logs = read.logs.map(({ path }) => path);
  const described = describeArtifacts(run.artifacts);
  if (described.length > 0) await scratch.write(artifactsFile, jsonText(described));
  yield* await scratch.list();
  const isWithin = await reachOf(top, logs);
  const keep = async (
    path: string,
    local: string,
    allowed: (real: string) => boolean,
  ): Promise<SourceFile[]> => {
    if (locals.has(path) || scratch.has(path)) return [];
    const real = await realpath(local).catch(() => undefined);
    const status = real === undefined ? undefined : await stat(real).catch(() => undefined);
    if (real === undefined || status === undefined) omissions.add('files that are no longer there');
    else if (!allowed(real)) omissions.add(linksElsewhere);
    else if (status.isFile()) {
      locals.set(path, real);
      return [{ path, size: status.size }];
    }
    return [];
  };
  for (const [index, log] of logs.entries()) {
    const folder = join(dirname(log), 'files');
    for await (const { path } of filesBelow(folder)) {
      if (basename(path) === 'wandb-summary.json') continue;
      // A version leaves this file empty, and has the lines in the records.
      if (path === 'output.log' && (await lstat(join(folder, path))).size === 0) continue;
      const local = join(folder, path);
      const name = media.nameOf(path);
      const first = locals.get(name);
      // A resumed run has further files of the same names.
      const ownName = first === undefined ? name : `resumed/${index}/${name}`;
      if (first === undefined || !(await areEqual(first, local))) yield* await keep(ownName, local, isWithin);
    }
  }
  if (Object.keys(run.environment).length > 0 && !locals.has(environmentFile)) {
    await scratch.write(environmentFile, jsonText(run.environment));
    yield* (await scratch.list()).filter(({ path }) => path === environmentFile);
  }
  if (run.hasOutput && !locals.has('output.log')) {
    const decoder = new TextDecoder();
    for (const log of logs)
      for await (const bytes of outputOf(log))
        await scratch.addText('output.log', decoder.decode(bytes, { stream: true }));
    yield* (await scratch.list()).filter(({ path }) => path === 'output.log');
  }
  const stage = await staging();
  const isStaged = (real: string): boolean => isWithin(real) || real.startsWith(stage);
  for (const { path, local } of artifactFiles(run.artifacts, omissions))
    yield* await keep(path, local, isStaged);
}

/** Whether two files have equal contents, as the requirements of a run and of its continuation. */
async function areEqual(first: string, second: string): Promise<boolean> {
  const [size, otherSize] = await Promise.all(
    [first, second].map((path) =>
      stat(path).then(
        (status) => status.size,
        () => -1,
      ),
    ),
  );
  if (size !== otherSize || (size ?? 0) > maxCompared) return false;
  const [before, after] = await Promise.all([first, second].map((path) => readFile(path)));
  return before !== undefined && after !== undefined && before.equals(after);
}

/** Maximum bytes of files that are compared. Larger ones come twice. */
const maxCompared = 16 * 1024 * 1024;

/**
 * Return whether a link may lead to a path: within the given folder, or within the one of the program whose folder is
 * `wandb`. A folder of somebody else must not bring hidden files, such as keys, or the whole home.
 */
async function reachOf(top: string, logs: readonly string[]): Promise<(real: string) => boolean> {
  const real = (path: string): Promise<string> => realpath(path).catch(() => path);
  const runFolders = await Promise.all(logs.map((log) => real(dirname(log))));
  const programs = runFolders.map(dirname).filter((path) => /^\.?wandb$/.test(basename(path)));
  const home = (await real(homedir())) + sep;
  const roots = [await real(top), ...programs.map(dirname)].filter((root) => !home.startsWith(root + sep));
  const isBelow = (path: string, root: string): boolean =>
    path.startsWith(root + sep) && !/(^|[\\/])\.(?!wandb[\\/])/.test(path.slice(root.length + 1));
  return (path) =>
    runFolders.some((folder) => path.startsWith(folder + sep)) || roots.some((root) => isBelow(path, root));
}

/** Folder in which W&B stages files of artifacts. */
async function staging(): Promise<string> {
  const data = process.env['WANDB_DATA_DIR'] ?? join(homedir(), '.local/share/wandb');
  return (await realpath(data).catch(() => data)) + sep;
}
