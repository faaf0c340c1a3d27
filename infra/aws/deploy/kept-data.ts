import { type DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { ListBucketsCommand, type S3Client } from '@aws-sdk/client-s3';

/** Names of tables and buckets that removed deployments of a name have left. */
export interface KeptData {
  accounts: readonly string[];
  records: readonly string[];
  buckets: readonly string[];
}

const isDenied = (error: unknown): boolean => error instanceof Error && error.name.startsWith('AccessDenied');

/** Resources under the names that CloudFormation makes for a data stack; none where it may not list them. */
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

/** How the next deployment takes over what an earlier one has left; undefined where nothing is left. */
export function adoptionHint({ accounts, records, buckets }: KeptData): string | undefined {
  const [account, record, bucket] = [accounts[0], records[0], buckets[0]];
  if (account === undefined || record === undefined || bucket === undefined) return undefined;
  const all = [...accounts, ...records, ...buckets].map((name) => `  ${name}`);
  const others =
    all.length === 3 ? [] : ['Of several deployments; these belong together by your choice:', ...all];
  return [
    ...others,
    'To deploy with this data, and not beside it, give its names once:',
    `  npm run deploy -- --adopt-accounts ${account} --adopt-records ${record} --adopt-bucket ${bucket}`,
  ].join('\n');
}
