import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import type { Bench } from '../group.ts';
import { fillSqlite } from './fill-sqlite.ts';
import { type FilledPeer, untilUp } from './peer.ts';
import { runStatements, startPostgres } from './postgres-server.ts';
import { ended, freePort, installed, stop } from './server-process.ts';

/** MLflow's own server, of PyPI, on a store, with as many workers as it starts unless told otherwise. */
async function startOn(bench: Bench, name: string, store: string): Promise<Omit<FilledPeer, 'fill'>> {
  const packages = ['mlflow==3.17.2', 'psycopg2-binary==2.9.13'];
  const program = await installed(bench, resolve('.data/bench-mlflow'), 'mlflow', packages);
  const port = await freePort();
  const child = spawn(program, ['server', '--backend-store-uri', store, '--port', String(port)], {
    cwd: bench.folder,
    detached: true,
    stdio: 'ignore',
  });
  bench.started.defer(() => stop(child));
  const url = `http://127.0.0.1:${port}`;
  await Promise.race([untilUp(`${url}/health`), ended(child, name)]);
  return { peer: { name, url, headers: {}, pid: child.pid ?? 0 } };
}

export const onSqlite = 'MLflow on SQLite';
export const onPostgres = 'MLflow on PostgreSQL';

export async function startMlflowOnSqlite(bench: Bench): Promise<FilledPeer> {
  const database = join(bench.folder, 'mlflow.db');
  const started = await startOn(bench, onSqlite, `sqlite:///${database}`);
  return { ...started, fill: (id, size) => fillSqlite(database, id, size, { paramValue: 'value' }) };
}

export async function startMlflowOnPostgres(bench: Bench): Promise<FilledPeer> {
  const { url, execute } = await startPostgres(bench);
  // The name of a driver: SQLAlchemy's own choice changes with its releases.
  const started = await startOn(bench, onPostgres, url.replace('postgresql:', 'postgresql+psycopg2:'));
  return { ...started, fill: (id, size) => execute(runStatements(id, size)) };
}
