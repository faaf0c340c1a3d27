import { join } from 'node:path';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  paginateListTables,
  type TableDescription,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { GetBucketPolicyCommand, HeadBucketCommand, ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { CommandError } from '../../command/command-error.ts';
import { givenOptions } from '../../command/read-flags.ts';
import { cdkContext, synthesizeTemplates } from '../build/templates.ts';
import { adoptContext } from '../options/api-context.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { clientConfig, resourcesOf, stackName } from './read-deployment.ts';
import { runCdk } from './run-cdk.ts';

/**
 * Import existing tables and an existing bucket into the data stack with CloudFormation, by a template that states none
 * of their protections. They become normal resources of the stack, and the deployment after it sets what the options
 * state. Do nothing if the deployment has them already: then only that deployment was interrupted.
 */
export async function adopt(
  adopted: AdoptedData,
  options: DeploymentOptions,
  context: readonly string[],
): Promise<number> {
  const config = clientConfig(options);
  const stack = stackName(options, 'data');
  const present = await resourcesOf(new CloudFormationClient(config), stack);
  const names = present.map(({ name }) => name);
  if (Object.values(adopted).every((name) => names.includes(name))) return 0;
  if (present.length > 0) {
    throw new CommandError(`The deployment "${options.name}" already has tables and a bucket: ${stack}.`);
  }
  await prepareAdopted({ dynamoDb: new DynamoDBClient(config), s3: new S3Client(config) }, adopted);
  const template = (
    await synthesizeTemplates(root, { ...(await cdkContext(root)), ...givenOptions(context) })
  ).get(stack);
  const resources = Object.entries(template?.Resources ?? {}).map(([id, { Type }]) => ({ id, type: Type }));
  const mapping = JSON.stringify(importMapping(resources, adopted));
  return runCdk(['import', stack, '--resource-mapping-inline', mapping], [...context, `${adoptContext}=yes`]);
}

/** Names of existing tables and of an existing bucket that a new deployment takes over. */
export interface AdoptedData {
  accounts: string;
  records: string;
  bucket: string;
}

/**
 * Check the tables and the bucket, and enable missing features of restored tables.
 * @throws CommandError naming everything that cannot be adopted; then nothing was changed
 */
export async function prepareAdopted(
  { dynamoDb, s3 }: { dynamoDb: DynamoDBClient; s3: S3Client },
  { accounts, records, bucket }: AdoptedData,
): Promise<void> {
  const faults: string[] = [];
  if (accounts === records) faults.push(`accounts and records must be two tables, not both ${accounts}`);
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
  if (await hasPolicy(s3, bucket)) {
    faults.push(
      `the bucket ${bucket} has a policy of its own, and the deployment makes one: remove it first`,
    );
  }
  if (faults.length > 0) throw new CommandError(`Nothing was adopted:\n  ${faults.join('\n  ')}`);
  for (const [name, table] of tables) await prepareTable(dynamoDb, name, table);
}

async function hasPolicy(s3: S3Client, Bucket: string): Promise<boolean> {
  try {
    await s3.send(new GetBucketPolicyCommand({ Bucket }));
    return true;
  } catch (error) {
    if (isMissing(error) || (error instanceof Error && error.name === 'NoSuchBucketPolicy')) return false;
    throw error;
  }
}

/** Return why the service cannot use a table, if so. {@link prepareTable} can enable stream and expiry. */
function faultOf({ TableName, KeySchema = [], AttributeDefinitions = [], ...table }: TableDescription) {
  const keys = KeySchema.map(({ AttributeName, KeyType }) => `${AttributeName} ${KeyType}`).sort();
  const texts = AttributeDefinitions.filter(({ AttributeType }) => AttributeType === 'S');
  if (keys.join() !== 'pk HASH,sk RANGE' || texts.length !== 2) {
    return `the table ${TableName} does not belong to this service: its keys must be pk and sk, both strings`;
  }
  const view = table.StreamSpecification?.StreamViewType;
  if (view !== undefined && view !== 'KEYS_ONLY') {
    return `the table ${TableName} has a stream of ${view}: turn the stream off first, because the service needs KEYS_ONLY`;
  }
  if (table.BillingModeSummary?.BillingMode !== 'PAY_PER_REQUEST') {
    return `the table ${TableName} does not use on-demand billing (PAY_PER_REQUEST); change its billing mode first`;
  }
  return undefined;
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && ['ResourceNotFoundException', 'NotFound', 'NoSuchBucket'].includes(error.name);

/** Enable stream and expiry by `ttl`, which a table restored from a backup lacks. */
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

const root = join(import.meta.dirname, '../../..');

const wanted = [
  { what: 'accounts', type: 'AWS::DynamoDB::Table', id: 'Accounts', identifier: 'TableName' },
  { what: 'records', type: 'AWS::DynamoDB::Table', id: 'Records', identifier: 'TableName' },
  { what: 'bucket', type: 'AWS::S3::Bucket', id: 'Bucket', identifier: 'BucketName' },
] as const;

/**
 * Map resources of the data stack to existing ones, as `cdk import` expects it.
 * @param resources of the data stack's template
 */
export function importMapping(
  resources: readonly LogicalResource[],
  adopted: AdoptedData,
): Record<string, Record<string, string>> {
  return Object.fromEntries(
    wanted.map(({ what, type, id, identifier }) => {
      const resource = resources.find((one) => one.type === type && one.id.startsWith(id));
      if (resource === undefined) throw new Error(`the data stack has no ${id}`);
      return [resource.id, { [identifier]: adopted[what] }];
    }),
  );
}

interface LogicalResource {
  id: string;
  type: string;
}

/** @throws CommandError if a first deployment would ignore the data of an earlier one */
export async function refuseForgotten(options: DeploymentOptions): Promise<void> {
  const config = clientConfig(options);
  const stack = stackName(options, 'data');
  if ((await resourcesOf(new CloudFormationClient(config), stack)).length > 0) return;
  const kept = await findKeptData({ dynamoDb: new DynamoDBClient(config), s3: new S3Client(config) }, stack);
  const hint = adoptionHint(kept) ?? partsHint(kept);
  if (hint === undefined) return;
  throw new CommandError(
    `An earlier deployment "${options.name}" has left data.\n${hint}\nTo start without it: npm run deploy -- --start-empty`,
  );
}

/**
 * Find resources with names that CloudFormation generates for a data stack. Return none if the caller may not list
 * them.
 */
export async function findKeptData(
  { dynamoDb, s3 }: { dynamoDb: DynamoDBClient; s3: S3Client },
  stack: string,
): Promise<KeptData> {
  const tables: string[] = [];
  const buckets: string[] = [];
  try {
    for await (const { TableNames = [] } of paginateListTables({ client: dynamoDb }, {})) {
      tables.push(...TableNames.filter((name) => name.startsWith(`${stack}-`)));
    }
    const { Buckets = [] } = await s3.send(new ListBucketsCommand({ Prefix: `${stack}-bucket` }));
    buckets.push(...Buckets.flatMap(({ Name }) => (Name === undefined ? [] : [Name])));
  } catch (error) {
    if (!isDenied(error)) throw error;
  }
  return {
    accounts: tables.filter((name) => name.startsWith(`${stack}-Accounts`)),
    records: tables.filter((name) => name.startsWith(`${stack}-Records`)),
    buckets,
  };
}

/** Names of remaining tables and buckets of removed deployments. */
export interface KeptData {
  accounts: readonly string[];
  records: readonly string[];
  buckets: readonly string[];
}

const isDenied = (error: unknown): boolean => error instanceof Error && error.name.startsWith('AccessDenied');

/** Explain how to adopt the data of an earlier deployment. Return undefined if there is none. */
export function adoptionHint({ accounts, records, buckets }: KeptData): string | undefined {
  const [account, record, bucket] = [accounts[0], records[0], buckets[0]];
  if (account === undefined || record === undefined || bucket === undefined) return undefined;
  const all = [...accounts, ...records, ...buckets].map((name) => `  ${name}`);
  const others =
    all.length === 3
      ? []
      : [
          'They belong to several deployments. Choose two tables and a bucket of the same deployment:',
          ...all,
        ];
  return [
    ...others,
    'To deploy with this data, give its names once:',
    `  npm run deploy -- --adopt-accounts ${account} --adopt-records ${record} --adopt-bucket ${bucket}`,
  ].join('\n');
}

/** Explain tables or a bucket without the others, which a creation leaves that failed halfway. Return undefined if there are none. */
export function partsHint({ accounts, records, buckets }: KeptData): string | undefined {
  const tables = [...accounts, ...records];
  if (tables.length + buckets.length === 0) return undefined;
  return [
    'They are not a whole: without two tables and a bucket there is nothing to adopt. A creation that failed leaves them empty. To remove them:',
    ...tables.flatMap((name) => [
      `  aws dynamodb update-table --table-name ${name} --no-deletion-protection-enabled`,
      `  aws dynamodb delete-table --table-name ${name}`,
    ]),
    ...buckets.map((name) => `  aws s3api delete-bucket --bucket ${name}`),
  ].join('\n');
}

/**
 * Parse the names from the command line. Return undefined if there are none. @throws CommandError if some are
 * missing
 */
export function adoptedData(
  given: Readonly<Record<keyof AdoptedData, string | undefined>>,
): AdoptedData | undefined {
  const { accounts, records, bucket } = given;
  if (accounts === undefined && records === undefined && bucket === undefined) return undefined;
  if (!accounts || !records || !bucket) {
    throw new CommandError(
      '--adopt-accounts, --adopt-records and --adopt-bucket must be given together, because records refer to objects and users.',
    );
  }
  return { accounts, records, bucket };
}
