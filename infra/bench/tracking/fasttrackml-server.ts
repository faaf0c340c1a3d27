import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import type { Bench } from '../group.ts';
import { type Peer, untilUp } from './peer.ts';
import { freePort, installed, stop } from './server-process.ts';

/** FastTrackML, a server of MLflow's API in Go, on SQLite, of PyPI. */
export async function startFasttrackml(bench: Bench): Promise<Peer> {
  const environment = resolve('.data/bench-fasttrackml');
  const program = await installed(bench, environment, 'fml', ['fasttrackml==0.6.0']);
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    program,
    ['server', '-a', address, '-d', `sqlite://${join(bench.folder, 'fasttrackml.db')}`, '-l', 'error'],
    { cwd: bench.folder, detached: true, stdio: 'ignore' },
  );
  bench.started.defer(() => stop(child));
  const url = `http://${address}`;
  await untilUp(`${url}/health`);
  return { name: 'FastTrackML', url, headers: {}, pid: child.pid ?? 0 };
}
