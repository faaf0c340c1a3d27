import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CommandError } from '../command/command-error.ts';
import { startDynamoDb } from '../local/dynamodb/engine.ts';
import { startS3Server } from '../local/s3/server.ts';
import { engineCredentials, openDataFolder } from '../local/start/data-folder.ts';
import { accountsTable, bucket, recordsTable } from '../local/start/function-environment.ts';
import type { Inventory } from './inventory.ts';
import { takeInventory } from './stores.ts';

const region = 'us-east-1';

/**
 * Reads all that a data folder of `npm start` keeps, by engines of its own. The folder is locked meanwhile.
 * @throws CommandError where there is none, or a service uses it
 */
export async function localInventory(folder: string): Promise<Inventory> {
  const path = resolve(folder);
  if (!existsSync(join(path, 'dynamodb/records.db'))) {
    throw new CommandError(`There is no data folder ${path}: npm start makes .data, or what --data names.`);
  }
  await using started = new AsyncDisposableStack();
  const data = await openDataFolder(path);
  started.defer(() => data.release());
  const credentials = await engineCredentials(data);
  const tables = await startDynamoDb(data.within('dynamodb/records.db'));
  started.defer(() => tables.close());
  const objects = await startS3Server({
    folder: data.within('s3'),
    port: 0,
    region,
    credentials,
    buckets: [bucket],
  });
  started.defer(() => objects.close());
  // Awaited here, before the engines end.
  return await takeInventory({
    accounts: accountsTable,
    records: recordsTable,
    bucket,
    dynamoDb: { region, credentials, endpoint: tables.url },
    s3: { region, credentials, endpoint: objects.url, forcePathStyle: true },
  });
}
