import { execFile } from 'node:child_process';
import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTables } from '../../../infra/local/dynamodb/tables.ts';
import { region, startEngines } from '../world/engines.ts';
import { environmentOf, newDeveloper, openService } from '../world/service.ts';
import { type FilledProject, fillProject, type Size } from './doomed-project.ts';

/** A deployment at rest, of which every life gets a copy: to fill it takes longer than to live. */
export interface Template {
  folder: string;
  token: string;
  doomed: FilledProject;
  neighbour: FilledProject;
}

/** Name of its tables. */
export const templateName = 'kill';
const recordsFile = 'dynamodb/records.db';

export async function makeTemplate(folder: string, size: Size): Promise<Template> {
  await using started = new AsyncDisposableStack();
  await mkdir(join(folder, 'dynamodb'), { recursive: true });
  const engines = await startEngines(started, folder, join(folder, recordsFile));
  const environment = environmentOf(engines, 'http://127.0.0.1:9', templateName);
  const client = new DynamoDBClient({ region, endpoint: engines.dynamoDbUrl });
  await createTables(client, [environment['ACCOUNTS_TABLE'] ?? '', environment['RECORDS_TABLE'] ?? '']);
  client.destroy();
  const service = openService(environment);
  const owner = await newDeveloper(service);
  const doomed = await fillProject(service, owner, size);
  const neighbour = await fillProject(service, owner, { ended: 3, objects: 20 }, ['RUNNING']);
  return { folder, token: owner.token, doomed, neighbour };
}

const run = promisify(execFile);

/** Starts engines on a copy of it. Files of objects never change, so the copies share them. */
export async function startCopy(started: AsyncDisposableStack, { folder }: Template, copy: string) {
  await mkdir(copy, { recursive: true });
  await run('cp', ['-al', join(folder, 's3'), join(copy, 's3')]);
  for (const name of await readdir(join(folder, 's3'))) {
    if (!name.startsWith('index.sqlite')) continue;
    // The index does change.
    await cp(join(folder, 's3', name), join(copy, 's3', `${name}.copy`));
    await run('mv', [join(copy, 's3', `${name}.copy`), join(copy, 's3', name)]);
  }
  await cp(join(folder, 'dynamodb'), join(copy, 'dynamodb'), { recursive: true });
  return startEngines(started, copy, join(copy, recordsFile));
}
