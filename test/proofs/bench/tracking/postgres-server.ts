import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../group.ts';
import {
  commitTag,
  metricNames,
  nameTag,
  paramNames,
  runsOfCommit,
  runTime,
  sharedTags,
} from './searched-run.ts';
import { freePort, run, stop } from './server-process.ts';

/** PostgreSQL refuses to run as root; this is `nobody` everywhere. */
const unprivileged = 65_534;
const tries = 60;

export interface Postgres {
  url: string;
  /** Run statements. @throws Error where one fails */
  execute(statements: string): Promise<void>;
}

/** A PostgreSQL server of this machine's own programs, with a database that is empty. */
export async function startPostgres({ folder, started }: Bench): Promise<Postgres> {
  const data = join(folder, 'postgres');
  await mkdir(data);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(data, unprivileged, unprivileged);
  const as = isRoot ? { uid: unprivileged, gid: unprivileged, cwd: data } : { cwd: data };
  await run('initdb', ['--pgdata', data, '--username', 'bench', '--auth', 'trust'], as);
  const port = await freePort();
  const child = spawn(
    'postgres',
    ['-D', data, '-c', 'listen_addresses=127.0.0.1', '-p', String(port), '-k', data],
    { ...as, detached: true, stdio: 'ignore' },
  );
  started.defer(() => stop(child));
  const url = `postgresql://bench@127.0.0.1:${port}/postgres`;
  const execute = (statements: string) =>
    run('psql', [
      '--quiet',
      '--set',
      'ON_ERROR_STOP=1',
      '--output',
      '/dev/null',
      '--command',
      statements,
      url,
    ]);
  for (let attempt = 1; ; attempt += 1) {
    const [code]: unknown[] = await once(spawn('pg_isready', ['--quiet', '--dbname', url]), 'exit');
    if (code === 0) return { url, execute };
    if (attempt === tries) throw new Error('PostgreSQL does not start');
    await sleep(500);
  }
}

/** Statements that write runs into the tables of MLflow's server. */
export function runStatements(experiment_id: string, size: number): string {
  const id = `'f' || lpad('${experiment_id}', 7, '0') || lpad(to_hex(i), 24, '0')`;
  const series = `generate_series(0, ${size - 1}) AS i`;
  const named = (names: readonly string[]) =>
    `unnest(ARRAY[${names.map((name) => `'${name}'`).join(', ')}]) AS name`;
  const shared = Object.entries(sharedTags)
    .map(([name, value]) => `('${name}', '${value}')`)
    .join(', ');
  return `
    INSERT INTO runs (run_uuid, name, source_type, source_name, entry_point_name, user_id, status, start_time, end_time,
      source_version, lifecycle_stage, artifact_uri, experiment_id)
    SELECT ${id}, 'run ' || i, 'UNKNOWN', '', '', 'bench', 'FINISHED', ${runTime(0)} + i, ${runTime(0)} + i, '', 'active',
      '', ${Number(experiment_id)} FROM ${series};
    INSERT INTO latest_metrics (run_uuid, key, value, timestamp, step, is_nan)
    SELECT ${id}, name, sin(i), ${runTime(0)} + i, 0, false FROM ${series}, ${named(metricNames)};
    INSERT INTO params (run_uuid, key, value)
    SELECT ${id}, name, (i % 7)::text FROM ${series}, ${named(paramNames)};
    INSERT INTO tags (run_uuid, key, value)
    SELECT ${id}, name, value FROM ${series}, (VALUES ${shared}) AS shared (name, value)
    UNION ALL SELECT ${id}, '${nameTag}', 'run ' || i FROM ${series}
    UNION ALL SELECT ${id}, '${commitTag}', lpad(to_hex(i / ${runsOfCommit}), 40, '0') FROM ${series};
    ANALYZE;`;
}
