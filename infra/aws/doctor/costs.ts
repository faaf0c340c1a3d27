import { BatchClient, ListJobsCommand } from '@aws-sdk/client-batch';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ECRClient, paginateDescribeImages } from '@aws-sdk/client-ecr';
import { S3Client } from '@aws-sdk/client-s3';
import { objectReader } from '../../../shared/aws/objects.ts';
import { pagesOf } from '../../../shared/data/table/pages-of.ts';
import { prices } from '../cost/price-list.ts';
import type { DeployedResource } from '../deploy/read-deployment.ts';

/** List the resources of a deployment that currently cost money. */
export async function currentCosts(
  resources: readonly DeployedResource[],
  { region, account }: { region: string; account: string },
): Promise<Cost[]> {
  const namesOf = (type: string) =>
    resources.filter((resource) => resource.type === type).map(({ name }) => name);
  return Promise.all([
    tables(new DynamoDBClient({ region }), namesOf('AWS::DynamoDB::Table')),
    ...namesOf('AWS::S3::Bucket').map((name) => bucketThing(new S3Client({ region }), name)),
    images(new ECRClient({ region }), account, region),
    ...namesOf('AWS::Batch::JobQueue').map((queue) => jobs(new BatchClient({ region }), queue)),
  ]);
}

/** A resource and its current cost. */
export interface Cost {
  what: string;
  /** US dollars a month; undefined if it is charged by the hour while it runs. */
  monthly: number | undefined;
}

/** GB of DynamoDB storage in the free tier, which does not expire. */
const freeTableGb = 25;

async function tables(client: DynamoDBClient, names: readonly string[]): Promise<Cost> {
  const described = await Promise.all(
    names.map((TableName) => client.send(new DescribeTableCommand({ TableName }))),
  );
  const bytes = described.reduce((sum, { Table }) => sum + (Table?.TableSizeBytes ?? 0), 0);
  const paid = Math.max(0, gigabytes(bytes) - freeTableGb);
  return { what: `tables: ${size(bytes)}, ${freeTableGb} GB free`, monthly: paid * prices.dynamoDb.gbMonth };
}

const gigabytes = (bytes: number): number => bytes / 1e9;

const size = (bytes: number): string => `${gigabytes(bytes).toFixed(3)} GB`;

async function bucketThing(client: S3Client, name: string): Promise<Cost> {
  const reader = objectReader(client, name);
  let [bytes, count] = [0, 0];
  for await (const page of pagesOf((after) => reader.list('', after))) {
    bytes += page.objects.reduce((sum, one) => sum + one.size, 0);
    count += page.objects.length;
  }
  return { what: `bucket: ${count} objects, ${size(bytes)}`, monthly: gigabytes(bytes) * prices.s3.gbMonth };
}

/**
 * Return the cost of all images that the CDK has pushed to this account and region, including images of other
 * applications.
 */
async function images(client: ECRClient, account: string, region: string): Promise<Cost> {
  let bytes = 0;
  const repositoryName = `cdk-hnb659fds-container-assets-${account}-${region}`;
  try {
    for await (const page of paginateDescribeImages({ client }, { repositoryName })) {
      bytes += (page.imageDetails ?? []).reduce((sum, one) => sum + (one.imageSizeInBytes ?? 0), 0);
    }
  } catch (error) {
    if (!(error instanceof Error && error.name === 'RepositoryNotFoundException')) throw error;
  }
  return {
    what: `images in ${repositoryName}: ${size(bytes)}`,
    monthly: gigabytes(bytes) * prices.ecr.gbMonth,
  };
}

const running = ['STARTING', 'RUNNING'] as const;

async function jobs(client: BatchClient, queue: string): Promise<Cost> {
  const lists = await Promise.all(
    running.map((jobStatus) => client.send(new ListJobsCommand({ jobQueue: queue, jobStatus }))),
  );
  const count = lists.reduce((sum, { jobSummaryList = [] }) => sum + jobSummaryList.length, 0);
  return { what: `running jobs in ${queue}: ${count}`, monthly: count === 0 ? 0 : undefined };
}
