import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError, exitCodes } from '../cli-error.ts';
import type { RunSource } from './source.ts';
import { mlflowDatabase } from './sources/mlflow-database.ts';
import { mlflowFolder } from './sources/mlflow-folder.ts';
import { mlflowServer } from './sources/mlflow-server.ts';
import { neptuneExport } from './sources/neptune-export.ts';
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
  const isEmpty = (await opened.experiments()[Symbol.asyncIterator]().next()).done ?? false;
  if (!isEmpty) return opened;
  await opened.close?.();
  throw new CliError(
    `${path} has no runs of ${name}. SOURCE is ${source}.${await otherTracker(path, tracker)}`,
    exitCodes.usage,
  );
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
    ['mlflow', /(^|\/)meta\.yaml$/],
  ];
  const sign = signs.find(
    ([tracker, pattern]) => tracker !== asked && names.some((name) => pattern.test(name)),
  );
  return sign === undefined ? '' : ` It looks like one of ${trackers[sign[0]].name}: --from ${sign[0]}.`;
}
