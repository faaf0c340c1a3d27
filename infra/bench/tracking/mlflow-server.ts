import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Bench } from '../group.ts';
import { type Peer, untilUp } from './peer.ts';
import { freePort, installed, stop } from './server-process.ts';

/** MLflow's own server on SQLite, of PyPI. */
export async function startMlflow(bench: Bench): Promise<{ peer: Peer; database: string }> {
  const { folder, started } = bench;
  const program = await installed(bench, resolve('.data/bench-mlflow'), 'mlflow', ['mlflow==3.17.2']);
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
