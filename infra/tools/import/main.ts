import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { givenPath } from '../../../shared/bundle/given-path.ts';
import { CommandError } from '../../command/command-error.ts';
import { mpsSession } from '../../command/mps-session.ts';
import { readFlags } from '../../command/read-flags.ts';
import { runMain } from '../../command/run-main.ts';
import { folderSource } from './folder-source.ts';
import { importMlflow } from './import-mlflow.ts';
import { serverSource } from './server-source.ts';
import type { MlflowSource } from './source.ts';
import { authorizationIn, TrackingApi } from './tracking-api.ts';

async function main(): Promise<number> {
  const { values, positionals } = readFlags(usage, {
    options: { from: { type: 'string' } },
    allowPositionals: true,
  });
  const [given, ...others] = positionals;
  if (values.from !== 'mlflow' || given === undefined || others.length > 0) throw new CommandError(usage);
  const source = await sourceAt(given);
  const { client, token } = await mpsSession(process.env);
  const api = new TrackingApi(`${client.url}/mlflow`, `Bearer ${token}`);
  const { failures, ...counted } = await importMlflow(source, api, (line) =>
    process.stderr.write(`${line}\n`),
  );
  process.stdout.write(`${JSON.stringify(counted)}\n`);
  for (const failure of failures) process.stderr.write(`Not imported: ${failure}\n`);
  return failures.length === 0 ? 0 : 1;
}

// `npm run import`: import the records of another tracking server into this service.

const usage = `Usage: npm run import -- --from mlflow <address or folder>
  imports experiments, runs, metrics, artifacts and the model registry of MLflow into the service
  <address>  URL of a tracking server; sign in with MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and _PASSWORD
  <folder>   the folder mlruns of MLflow's file store, or its parent
  The service is the one that mps uses: MPS_URL and MPS_TOKEN, the last login, or the service of this checkout.
  After an interruption, run it again to continue.`;

/** @throws CommandError for an address that is neither a server nor a folder of one */
async function sourceAt(given: string): Promise<MlflowSource> {
  if (/^https?:\/\//.test(given)) return serverSource(new TrackingApi(given, authorizationIn(process.env)));
  const path = givenPath(given);
  const isFolder = async (folder: string): Promise<boolean> =>
    (await stat(folder).catch(() => undefined))?.isDirectory() ?? false;
  if (await isFolder(join(path, 'mlruns'))) return folderSource(join(path, 'mlruns'));
  if (await isFolder(path)) return folderSource(path);
  if (/^[a-z]+:/.test(given) || (await stat(path).catch(() => undefined)) !== undefined)
    throw new CommandError(
      `${given} is neither an http address nor a folder. Start "mlflow server --backend-store-uri ${given}" and import from its address.`,
    );
  throw new CommandError(`There is no folder ${path}.`);
}

await runMain(main);
