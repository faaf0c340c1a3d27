/**
 * Measures `npm run doctor -- --orphans --local` on a data folder with many projects: seconds and peak memory of the
 * doctor. `node test/proofs/load/orphans.ts [--projects 100000]`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ulid } from 'ulid';
import { createTables } from '../../../infra/local/dynamodb/create-tables.ts';
import { startDynamoDb } from '../../../infra/local/dynamodb/start-dynamodb.ts';
import { emulatorCredentials, openDataFolder } from '../../../infra/local/start/data-folder.ts';
import { accountsTable, recordsTable } from '../../../infra/local/start/function-environment.ts';
import { insertProjects } from '../bench/insert-projects.ts';

const { values } = parseArgs({ options: { projects: { type: 'string', default: '100000' } } });
const folder = await mkdtemp(join(tmpdir(), 'orphans-'));

async function fill(path: string): Promise<void> {
  const data = await openDataFolder(path);
  await mkdir(data.within('dynamodb'), { mode: 0o700 });
  await emulatorCredentials(data);
  const engine = await startDynamoDb(data.within('dynamodb/records.db'));
  const client = new DynamoDBClient({
    region: 'us-east-1',
    endpoint: engine.url,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  await createTables(client, [accountsTable, recordsTable]);
  client.destroy();
  await insertProjects(engine.url, ulid().toLowerCase(), Number(values.projects));
  await engine.close();
  data.release();
}

/** The most memory that a process has had so far, in MB. */
async function peakOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
}

try {
  await fill(join(folder, 'data'));
  const began = performance.now();
  const program = join(import.meta.dirname, '../../../infra/aws/doctor/main.ts');
  const child = spawn(process.execPath, [program, '--orphans', '--local', join(folder, 'data')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  let peak = 0;
  const sampling = setInterval(async () => {
    peak = Math.max(peak, await peakOf(child.pid ?? 0));
  }, 100);
  await once(child, 'exit');
  clearInterval(sampling);
  const seconds = (performance.now() - began) / 1000;
  process.stdout.write(
    `${values.projects} projects: ${seconds.toFixed(0)} s, ${peak.toFixed(0)} MB at most\n`,
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
