import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CliError, exitCodes } from '../cli-error.ts';
import type { RunSource } from './source.ts';
import { mlflowDatabase } from './sources/mlflow-database.ts';
import { mlflowFolder } from './sources/mlflow-folder.ts';
import { mlflowServer } from './sources/mlflow-server.ts';
import { neptuneExport } from './sources/neptune-export.ts';
import { offlineFolder } from './sources/offline-folder.ts';
import { type PythonPackage, PythonReader } from './sources/python-reader.ts';
import { pythonSource } from './sources/python-source.ts';
import { tensorboardFolder } from './sources/tensorboard-folder.ts';
import { wandbFolder } from './sources/wandb-folder.ts';
import { authorizationIn, TrackingApi } from './tracking-api.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface TrackerFormat {
  name: string;
  /** What `SOURCE` is. */
  source: string;
  /** Whether it may be a file instead of a folder. */
  isFile?: boolean;
  open(path: string, env: Environment): RunSource | Promise<RunSource>;
}

/** Trackers whose records can be imported. */
export const trackers = {
  wandb: { name: 'W&B', source: 'the folder wandb of a program, or one above it', open: wandbFolder },
  neptune: {
    name: 'Neptune',
    source: 'the folder of neptune-exporter with data and files',
    open: neptuneExport,
  },
  tensorboard: { name: 'TensorBoard', source: 'a folder with event files', open: tensorboardFolder },
  mlflow: {
    name: 'MLflow',
    source: 'the address of a tracking server, its mlflow.db, or its folder mlruns',
    isFile: true,
    open: openMlflow,
  },
  trackio: {
    name: 'Trackio',
    source: 'the folder with its databases, such as ~/.cache/huggingface/trackio, or one of them',
    isFile: true,
    open: byPython('trackio_folder'),
  },
  aim: {
    name: 'Aim',
    source: 'the folder .aim, or the one that has it',
    open: byPython('aim_repository', { name: 'aim', version: '3.29.1', python: '3.11' }),
  },
  clearml: {
    name: 'ClearML',
    source: 'an offline session, a folder or its zip, or a folder of them, such as ~/.clearml/cache/offline',
    isFile: true,
    open: byPython('clearml_sessions'),
  },
  comet: {
    name: 'Comet',
    source: 'the zip of an offline experiment, or a folder of them',
    isFile: true,
    open: byPython('comet_archives'),
  },
  offline: {
    name: 'mps.record',
    source: 'the folder of a program that recorded offline, or the folder .mps in it (default: this folder)',
    open: offlineFolder,
  },
} satisfies Record<string, TrackerFormat>;

export type Tracker = keyof typeof trackers;

export const isTracker = (text: string): text is Tracker => Object.hasOwn(trackers, text);

/**
 * Open what another tracker has recorded.
 * @param path the given source as a path of this machine
 * @throws CliError for a source that is not there or is not one of that tracker
 */
export async function openSource(
  tracker: Tracker,
  given: string,
  path: string,
  env: Environment,
): Promise<RunSource> {
  if (tracker === 'mlflow' && /^https?:\/\//.test(given))
    return mlflowServer(new TrackingApi(given, authorizationIn(env)));
  const { open, name, source, isFile = false }: TrackerFormat = trackers[tracker];
  const status = await stat(path).catch(() => undefined);
  if (status === undefined && /^[a-z+]+:\/\//.test(given) && !given.startsWith('sqlite:'))
    throw new CliError(
      tracker === 'mlflow'
        ? `${given} is neither an http address, a database of SQLite nor a folder. Start "mlflow server --backend-store-uri ${given}" and import from its address.`
        : `${given} is an address. SOURCE is ${source}.`,
      exitCodes.usage,
    );
  if (status === undefined) throw new CliError(`There is no ${path}. SOURCE is ${source}.`, exitCodes.usage);
  if (!status.isDirectory() && !isFile)
    throw new CliError(`${path} is no folder. SOURCE is ${source}.`, exitCodes.usage);
  const opened = await open(path, env);
  let isEmpty = true;
  try {
    isEmpty = (await opened.experiments()[Symbol.asyncIterator]().next()).done ?? false;
  } finally {
    if (isEmpty) await opened.close?.();
  }
  if (!isEmpty) return opened;
  const reasons = opened.unread?.().map((reason) => `\n${reason}`) ?? [];
  throw new EmptySourceError(
    `${path} has no runs of ${name}. SOURCE is ${source}.${await otherTracker(path, tracker)}${reasons.join('')}`,
    exitCodes.usage,
  );
}

/** A source has no runs, or none yet: a program that has just begun has written no whole record. */
export class EmptySourceError extends CliError {}

/** Return how to open what a program of Python reads. */
function byPython(name: string, needed?: PythonPackage): TrackerFormat['open'] {
  return async (path, env) => {
    const root = (await stat(path)).isDirectory() ? path : dirname(path);
    return pythonSource(await PythonReader.start(name, path, env, needed), root);
  };
}

/** Open a database, a folder with one, or a folder of MLflow's file store. Newer versions keep a database by default. */
async function openMlflow(path: string, env: Environment): Promise<RunSource> {
  const kindOf = async (local: string): Promise<Stats | undefined> => stat(local).catch(() => undefined);
  const database = join(path, 'mlflow.db');
  if ((await kindOf(path))?.isFile()) return mlflowDatabase(path, env);
  if ((await kindOf(database))?.isFile()) return mlflowDatabase(database, env);
  return mlflowFolder((await kindOf(join(path, 'mlruns')))?.isDirectory() ? join(path, 'mlruns') : path);
}

/** Name the tracker whose folder this seems to be. */
async function otherTracker(path: string, asked: Tracker): Promise<string> {
  const names = await readdir(path, { recursive: true }).catch((): string[] => []);
  const signs: readonly (readonly [Tracker, RegExp])[] = [
    ['wandb', /\.wandb$/],
    ['neptune', /_part_\d+\.parquet$/],
    ['tensorboard', /tfevents/],
    ['mlflow', /(^|\/)(meta\.yaml|mlflow\.db)$/],
    ['aim', /(^|\/)run_metadata\.sqlite$/],
    ['clearml', /(^|\/)offline-\w+\.zip$|(^|\/)task\.json$/],
    ['comet', /(^|\/)[0-9a-f]{32}\.zip$/],
    ['trackio', /\.db$/],
    ['offline', /(^|\/)[0-9a-f]{32}\/records\.ndjson$/],
  ];
  const sign = signs.find(
    ([tracker, pattern]) => tracker !== asked && names.some((name) => pattern.test(name)),
  );
  return sign === undefined ? '' : ` It looks like one of ${trackers[sign[0]].name}: --from ${sign[0]}.`;
}
