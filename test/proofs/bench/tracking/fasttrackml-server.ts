import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import type { Bench } from '../group.ts';
import { fillSqlite } from './fill-sqlite.ts';
import { type FilledPeer, untilUp } from './peer.ts';
import { freePort, installed, stop } from './server-process.ts';

/** FastTrackML, a server of MLflow's API in Go, on SQLite, of PyPI. */
export async function startFasttrackml(bench: Bench): Promise<FilledPeer> {
  const environment = resolve('.data/bench-fasttrackml');
  const program = await installed(bench, environment, 'fml', ['fasttrackml==0.6.0']);
  const address = `127.0.0.1:${await freePort()}`;
  const database = join(bench.folder, 'fasttrackml.db');
  const child = spawn(program, ['server', '-a', address, '-d', `sqlite://${database}`, '-l', 'error'], {
    cwd: bench.folder,
    detached: true,
    stdio: 'ignore',
  });
  bench.started.defer(() => stop(child));
  const url = `http://${address}`;
  await untilUp(`${url}/health`);
  // The context without content is the first.
  const tables = { runs: { row_num: 0 }, metrics: { context_id: 1, last_iter: 0 }, paramValue: 'value_str' };
  return {
    peer: { name: 'FastTrackML', url, headers: {}, pid: child.pid ?? 0 },
    fill: (id, size) => fillSqlite(database, id, size, tables),
  };
}
