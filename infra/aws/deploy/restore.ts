import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import * as z from 'zod';
import { CommandError } from '../../command/command-error.ts';
import { optionFlags, optionUsage, readFlags } from '../../command/read-flags.ts';
import { runMain } from '../../command/run-main.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { adoptionHint } from './adopt.ts';
import { clientConfig, deployedOptions, resourcesOf, stackName } from './read-deployment.ts';
import { type RestoredObjects, restoreBucket } from './restore-bucket.ts';
import { restoreTables, waitForTables } from './restore-tables.ts';

/** `npm run restore`: restore the tables and the bucket of a deployment to a time. */
async function restore(): Promise<number> {
  const { context, to } = readFlags(usage, { options: { ...optionFlags, to: { type: 'string' } } }).values;
  const time = readTime(to, new Date());
  const options = await deployedOptions(context);
  const { accounts, records, bucket } = await deployedData(options);
  const config = clientConfig(options);
  const dynamoDb = new DynamoDBClient(config);

  // The tables take longest, and AWS restores them by itself.
  const tables = await restoreTables(dynamoDb, [accounts, records], time);
  say(`The tables of ${time.toISOString()} are being restored: ${tables.join(', ')}.`);
  const objects = await restoreBucket(new S3Client(config), bucket, time, (restored) =>
    say(textOf(restored)),
  );
  say(
    objects === undefined
      ? `The bucket ${bucket} keeps no versions (bucketVersioning), so deleted objects are lost.`
      : textOf(objects),
  );
  for (const key of objects?.tooLarge ?? [])
    say(
      `${key} was replaced and is larger than 5 GB: copy its earlier version with a tool for large objects.`,
    );
  await waitForTables(dynamoDb, tables);
  const [ofAccounts = '', ofRecords = ''] = tables;
  say('The tables are restored. Remove the deployment, which keeps its data: npm run destroy');
  say(adoptionHint({ accounts: [ofAccounts], records: [ofRecords], buckets: [bucket] }) ?? '');
  say('Then compare tables and bucket: npm run doctor -- --orphans');
  return (objects?.tooLarge.length ?? 0) === 0 ? 0 : 1;
}

const usage = `Usage: npm run restore -- --to 2026-11-29T10:00:00Z [-c option=value]…
  restores both tables to a second, into new tables, and gives the objects of the bucket the content that they had
  then. It removes nothing. Run it again to continue after an interruption
${optionUsage}
  --to  the time, in ISO 8601 with its zone. AWS restores tables up to about five minutes ago`;

const say = (text: string): boolean => process.stdout.write(`${text}\n`);

const Time = z.iso.datetime({ offset: true });

/** Read the time in whole seconds, which AWS restores to. @throws CommandError */
function readTime(text: string | undefined, now: Date): Date {
  const parsed = Time.safeParse(text);
  if (!parsed.success)
    throw new CommandError(
      `--to must be a time in ISO 8601 with its zone, such as 2026-11-29T10:00:00Z.\n${usage}`,
    );
  const time = new Date(Math.floor(Date.parse(parsed.data) / 1000) * 1000);
  if (time.getTime() > now.getTime()) throw new CommandError(`--to ${text} is in the future.`);
  return time;
}

/** Return the tables and the bucket of a deployment. @throws CommandError if it is not deployed */
async function deployedData(
  options: DeploymentOptions,
): Promise<{ accounts: string; records: string; bucket: string }> {
  const stack = stackName(options, 'data');
  const resources = await resourcesOf(new CloudFormationClient(clientConfig(options)), stack);
  const nameOf = (type: string, id: string) =>
    resources.find((resource) => resource.type === type && resource.id.startsWith(id))?.name;
  const accounts = nameOf('AWS::DynamoDB::Table', 'Accounts');
  const records = nameOf('AWS::DynamoDB::Table', 'Records');
  const bucket = nameOf('AWS::S3::Bucket', 'Bucket');
  if (accounts === undefined || records === undefined || bucket === undefined)
    throw new CommandError(`There is no deployment "${options.name}" in this account and region.`);
  return { accounts, records, bucket };
}

const textOf = ({ undeleted, copied }: RestoredObjects): string =>
  `${undeleted} deleted objects are back, and ${copied} replaced ones have their earlier content.`;

await runMain(restore);
