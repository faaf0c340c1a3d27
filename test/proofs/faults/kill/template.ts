import { cp, mkdir, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { StoredObject } from '../../../../infra/aws/doctor/inventory.ts';
import { createTables } from '../../../../infra/local/dynamodb/create-tables.ts';
import { region, startStores } from '../world/engines.ts';
import { environmentOf, newDeveloper, openService } from '../world/service.ts';
import { type FilledProject, fillProject, type Size } from './doomed-project.ts';

/** A deployment at rest, of which every life gets a copy: to fill it takes longer than to live. */
export interface Template {
  folder: string;
  token: string;
  doomed: FilledProject;
  neighbour: FilledProject;
  /** All of them, listed once: that of every copy is the same until the life begins. */
  objects: readonly StoredObject[];
}

/** Name of its tables. */
export const templateName = 'kill';
const recordsFile = 'dynamodb/records.db';

export async function makeTemplate(folder: string, size: Size): Promise<Template> {
  const filled = await fill(folder, size);
  // The store makes these folders itself where they are missing; copied one by one they took longer than all else.
  const blobs = join(folder, 's3/blobs');
  for (const name of await readdir(blobs)) await rmdir(join(blobs, name)).catch(() => undefined);
  return filled;
}

async function fill(folder: string, size: Size): Promise<Template> {
  await using started = new AsyncDisposableStack();
  await mkdir(join(folder, 'dynamodb'), { recursive: true });
  const engines = await startStores(started, folder, join(folder, recordsFile));
  const environment = environmentOf(engines, 'http://127.0.0.1:9', templateName);
  const client = new DynamoDBClient({ region, endpoint: engines.dynamoDbUrl });
  await createTables(client, [environment['ACCOUNTS_TABLE'] ?? '', environment['RECORDS_TABLE'] ?? '']);
  client.destroy();
  const service = openService(environment);
  const owner = await newDeveloper(service);
  const doomed = await fillProject(service, owner, size);
  const neighbour = await fillProject(service, owner, { ended: 3, objects: 20 }, ['RUNNING']);
  const { objects } = await service.inventory();
  return { folder, token: owner.token, doomed, neighbour, objects };
}

/** Starts engines on a copy of it. */
export async function startCopy(started: AsyncDisposableStack, { folder }: Template, copy: string) {
  await cp(folder, copy, { recursive: true });
  return startStores(started, copy, join(copy, recordsFile));
}
