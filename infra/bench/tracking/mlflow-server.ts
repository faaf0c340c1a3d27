import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Bench } from '../group.ts';
import { type Peer, untilUp } from './peer.ts';

/** Kept from one bench to the next. */
const environment = resolve('.data/bench-mlflow');
const release = 'mlflow==3.17.2';

async function run(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ${args[0] ?? ''} failed`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  // Its workers are in its group.
  process.kill(-child.pid, 'SIGTERM');
  await ended;
}

/** MLflow's own server on SQLite, of PyPI. */
export async function startMlflow({
  folder,
  started,
  say,
}: Bench): Promise<{ peer: Peer; database: string }> {
  const program = join(environment, 'bin/mlflow');
  if (
    !(await access(program).then(
      () => true,
      () => false,
    ))
  ) {
    say(`installing ${release}`);
    await run('python3', ['-m', 'venv', environment]);
    await run(join(environment, 'bin/pip'), ['install', '--quiet', release]);
  }
  const port = await freePort();
  const database = join(folder, 'mlflow.db');
  const child = spawn(
    program,
    ['server', '--backend-store-uri', `sqlite:///${database}`, '--port', String(port), '--workers', '1'],
    { cwd: folder, detached: true, stdio: 'ignore' },
  );
  started.defer(() => stop(child));
  const url = `http://127.0.0.1:${port}`;
  await untilUp(`${url}/health`);
  return { peer: { name: 'MLflow', url, headers: {}, pid: child.pid ?? 0 }, database };
}

/** Write runs into the database of MLflow's server: by its API ten thousand take a quarter of an hour. */
export function fillMlflow(database: string, experiment_id: string, count: number): void {
  const db = new DatabaseSync(database);
  try {
    db.exec('BEGIN');
    const run = db.prepare(
      `INSERT INTO runs (run_uuid, name, source_type, source_name, entry_point_name, user_id, status, start_time, end_time,
       source_version, lifecycle_stage, artifact_uri, experiment_id)
       VALUES (?, ?, 'UNKNOWN', '', '', 'bench', 'FINISHED', ?, ?, '', 'active', '', ?)`,
    );
    const metric = db.prepare(
      'INSERT INTO latest_metrics (key, value, timestamp, step, is_nan, run_uuid) VALUES (?, ?, ?, 0, 0, ?)',
    );
    const param = db.prepare('INSERT INTO params (key, value, run_uuid) VALUES (?, ?, ?)');
    for (let index = 0; index < count; index += 1) {
      const id = `f${index.toString(16).padStart(31, '0')}`;
      const at = 1_700_000_000_000 + index;
      run.run(id, `run ${index}`, at, at, Number(experiment_id));
      for (const name of ['accuracy', 'loss']) metric.run(name, Math.sin(index), at, id);
      for (const name of ['lr', 'depth', 'seed']) param.run(name, String(index % 7), id);
    }
    db.exec('COMMIT');
  } finally {
    db.close();
  }
}
