import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError, exitCodes } from '../cli-error.ts';
import type { RunSource } from './source.ts';
import { mlflowFolder } from './sources/mlflow-folder.ts';
import { mlflowServer } from './sources/mlflow-server.ts';
import { neptuneExport } from './sources/neptune-export.ts';
import { tensorboardFolder } from './sources/tensorboard-folder.ts';
import { wandbFolder } from './sources/wandb-folder.ts';
import { authorizationIn, TrackingApi } from './tracking-api.ts';

/** Trackers whose records can be imported, with what `SOURCE` is. */
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
    source: 'the address of a tracking server, or its folder mlruns',
    open: undefined,
  },
} as const;

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
  env: Readonly<Record<string, string | undefined>>,
): Promise<RunSource> {
  const { open, name, source } = trackers[tracker];
  if (open === undefined) return openMlflow(given, path, env);
  const status = await stat(path).catch(() => undefined);
  if (status === undefined) throw new CliError(`There is no ${path}. SOURCE is ${source}.`, exitCodes.usage);
  if (!status.isDirectory())
    throw new CliError(`${path} is no folder. SOURCE is ${source}.`, exitCodes.usage);
  const opened = open(path);
  const isEmpty = (await opened.experiments()[Symbol.asyncIterator]().next()).done ?? false;
  if (isEmpty)
    throw new CliError(
      `${path} has no runs of ${name}. SOURCE is ${source}.${await otherTracker(path, tracker)}`,
      exitCodes.usage,
    );
  return opened;
}

async function openMlflow(
  given: string,
  path: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<RunSource> {
  if (/^https?:\/\//.test(given)) return mlflowServer(new TrackingApi(given, authorizationIn(env)));
  const isFolder = async (folder: string): Promise<boolean> =>
    (await stat(folder).catch(() => undefined))?.isDirectory() ?? false;
  if (await isFolder(join(path, 'mlruns'))) return mlflowFolder(join(path, 'mlruns'));
  if (await isFolder(path)) return mlflowFolder(path);
  if (/^[a-z]+:/.test(given) || (await stat(path).catch(() => undefined)) !== undefined)
    throw new CliError(
      `${given} is neither an http address nor a folder. Start "mlflow server --backend-store-uri ${given}" and import from its address.`,
      exitCodes.usage,
    );
  throw new CliError(`There is no folder ${path}.`, exitCodes.usage);
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
