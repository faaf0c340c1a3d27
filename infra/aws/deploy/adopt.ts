import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  type TableDescription,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { HeadBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { CommandError } from '../../command/command-error.ts';

/** Names of existing tables and of an existing bucket that a new deployment takes over. */
export interface AdoptedData {
  accounts: string;
  records: string;
  bucket: string;
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && ['ResourceNotFoundException', 'NotFound', 'NoSuchBucket'].includes(error.name);

/** Errors of a table that the service is to use. Stream and expiry can be turned on. */
function faultOf({ TableName, KeySchema = [], AttributeDefinitions = [], ...table }: TableDescription) {
  const keys = KeySchema.map(({ AttributeName, KeyType }) => `${AttributeName} ${KeyType}`).sort();
  const texts = AttributeDefinitions.filter(({ AttributeType }) => AttributeType === 'S');
  if (keys.join() !== 'pk HASH,sk RANGE' || texts.length !== 2) {
    return `the table ${TableName} is none of this service: its keys are not the texts pk and sk`;
  }
  const view = table.StreamSpecification?.StreamViewType;
  if (view !== undefined && view !== 'KEYS_ONLY') {
    return `the table ${TableName} has a stream of ${view}: turn it off first, the service needs one of KEYS_ONLY`;
  }
  if (table.BillingModeSummary?.BillingMode !== 'PAY_PER_REQUEST') {
    return `the table ${TableName} is not paid by request: change that first`;
  }
  return undefined;
}

/** Turns on what a table lacks that was restored from a backup: the stream, and expiry by `ttl`. */
async function prepareTable(client: DynamoDBClient, TableName: string, table: TableDescription) {
  if (table.StreamSpecification?.StreamEnabled !== true) {
    const StreamSpecification = { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } as const;
    await client.send(new UpdateTableCommand({ TableName, StreamSpecification }));
    await waitUntilTableExists({ client, maxWaitTime: 300 }, { TableName });
  }
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  if (!TimeToLiveDescription?.TimeToLiveStatus?.startsWith('ENABL')) {
    const TimeToLiveSpecification = { AttributeName: 'ttl', Enabled: true };
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  }
}

/**
 * Checks tables and bucket that a deployment is to take over, and turns on what restored tables lack.
 * @throws CommandError naming everything that cannot be taken over; then nothing was changed
 */
export async function prepareAdopted(
  { dynamoDb, s3 }: { dynamoDb: DynamoDBClient; s3: S3Client },
  { accounts, records, bucket }: AdoptedData,
): Promise<void> {
  const faults: string[] = [];
  if (accounts === records) faults.push(`accounts and records cannot both be the table ${accounts}`);
  const tables = new Map<string, TableDescription>();
  for (const TableName of new Set([accounts, records])) {
    try {
      const { Table = {} } = await dynamoDb.send(new DescribeTableCommand({ TableName }));
      const fault = faultOf(Table);
      if (fault === undefined) tables.set(TableName, Table);
      else faults.push(fault);
    } catch (error) {
      if (!isMissing(error)) throw error;
      faults.push(`there is no table ${TableName} in this account and region`);
    }
  }
  try {
    await s3.send(new HeadBucketCommand({ Bucket: bucket }));
  } catch (error) {
    if (!isMissing(error)) throw error;
    faults.push(`there is no bucket ${bucket} in this account and region`);
  }
  if (faults.length > 0) throw new CommandError(`Nothing was adopted:\n  ${faults.join('\n  ')}`);
  for (const [name, table] of tables) await prepareTable(dynamoDb, name, table);
}
