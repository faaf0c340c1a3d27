import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ulid } from 'ulid';
import type { StoredObject } from '../../../../infra/aws/doctor/inventory.ts';
import { createTables } from '../../../../infra/local/dynamodb/create-tables.ts';
import { type BatchControl, batchControl } from '../../../../shared/aws/batch.ts';
import { batch } from '../../../../shared/aws/batch-client.ts';
import { dynamoDb } from '../../../../shared/aws/dynamodb-client.ts';
import { type ObjectWriter, objectWriter } from '../../../../shared/aws/objects.ts';
import { s3 } from '../../../../shared/aws/s3-client.ts';
import { readSettings, type Settings } from '../../../../shared/core/settings.ts';
import { issueToken } from '../../../../shared/data/accounts/token.ts';
import { createUser, type User } from '../../../../shared/data/accounts/user.ts';
import type { TableWriter } from '../../../../shared/data/table/table.ts';
import { tableWriter } from '../../../../shared/data/table/table-writer.ts';
import { everyItem, everyObject, type Inventory } from '../../../support/inventory.ts';
import { type Engines, region } from './engines.ts';

/** The service as functions see it: tables of its own on given engines, and a bucket. */
export interface Service {
  environment: Record<string, string>;
  settings: Settings;
  accounts: TableWriter<'accounts'>;
  records: TableWriter<'records'>;
  objects: ObjectWriter;
  batch: BatchControl;
  /** Everything that is stored; of objects what is `known`, if it is. */
  inventory(known?: readonly StoredObject[]): Promise<Inventory>;
}

/** The environment of the functions of a service whose tables bear this name. */
export const environmentOf = (
  { dynamoDbUrl, s3Url, bucket }: Engines,
  batchUrl: string,
  name: string,
): Record<string, string> => ({
  AWS_REGION: region,
  DYNAMODB_ENDPOINT: dynamoDbUrl,
  S3_ENDPOINT: s3Url,
  BATCH_ENDPOINT: batchUrl,
  ACCOUNTS_TABLE: `accounts-${name}`,
  RECORDS_TABLE: `records-${name}`,
  BUCKET: bucket,
  LOG_LEVEL: 'error',
  LIMIT_UNFINISHED_JOBS: '1000',
  LIMIT_VCPUS: '10000',
});

/** Opens what is there. */
export function openService(environment: Record<string, string>): Service {
  const client = dynamoDb(environment);
  const { ACCOUNTS_TABLE = '', RECORDS_TABLE = '', BUCKET = '' } = environment;
  const objects = objectWriter(s3(environment), BUCKET);
  return {
    environment,
    settings: readSettings(environment),
    accounts: tableWriter(client, 'accounts', ACCOUNTS_TABLE),
    records: tableWriter(client, 'records', RECORDS_TABLE),
    objects,
    batch: batchControl(batch(environment)),
    async inventory(known) {
      const [accounts, records, stored] = await Promise.all([
        everyItem(client, ACCOUNTS_TABLE),
        everyItem(client, RECORDS_TABLE),
        known ?? everyObject(objects),
      ]);
      return { accounts, records, objects: stored };
    },
  };
}

/** Tables and nothing in them. */
export async function newService(engines: Engines, batchUrl: string): Promise<Service> {
  const environment = environmentOf(engines, batchUrl, ulid().toLowerCase());
  const client = new DynamoDBClient({ region, endpoint: engines.dynamoDbUrl });
  const { ACCOUNTS_TABLE = '', RECORDS_TABLE = '' } = environment;
  await createTables(client, [ACCOUNTS_TABLE, RECORDS_TABLE]);
  client.destroy();
  return openService(environment);
}

/** Removes the tables and whatever is in the bucket. */
export async function removeService({ environment, objects }: Service): Promise<void> {
  const client = new DynamoDBClient({ region, endpoint: environment['DYNAMODB_ENDPOINT'] ?? '' });
  for (const TableName of [environment['ACCOUNTS_TABLE'], environment['RECORDS_TABLE']])
    await client.send(new DeleteTableCommand({ TableName }));
  client.destroy();
  const left = await everyObject(objects);
  for (let start = 0; start < left.length; start += 1000)
    await objects.delete(left.slice(start, start + 1000).map(({ key }) => key));
}

/** A developer with a token; no password is hashed. */
export async function newDeveloper({ accounts }: Service): Promise<{ user: User; token: string }> {
  const now = new Date();
  const user_id = ulid().toLowerCase();
  const user: User = {
    user_id,
    username: `u${user_id}`,
    account_type: 'developer',
    created_at: now.toISOString(),
    version: 1,
    credentials_version: 1,
  };
  await createUser(accounts, user, 'no password');
  const token = { token_id: ulid().toLowerCase(), now, seconds: 24 * 3600, name: null };
  const { bearer } = await issueToken(accounts, user, token);
  return { user, token: bearer };
}
