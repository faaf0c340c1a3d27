import { join } from 'node:path';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { CommandError } from '../../command/command-error.ts';
import { givenOptions, optionFlags, optionUsage } from '../../command/option-flags.ts';
import { readFlags } from '../../command/read-flags.ts';
import { runMain } from '../../command/run-main.ts';
import { cdkContext, synthesizeTemplates } from '../build/templates.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { minConcurrency } from '../options/request-burst.ts';
import { callersAccount } from './account/account.ts';
import { concurrencyQuota } from './account/concurrency.ts';
import { type AdoptedData, prepareAdopted } from './adopt.ts';
import { adoptedData, importMapping } from './import-data.ts';
import { adoptionHint, findKeptData } from './kept-data.ts';
import { clientConfig, deployedOptions, resourcesOf, stackName } from './read-deployment.ts';
import { runCdk } from './run-cdk.ts';

const usage = `Usage: npm run deploy -- [-c option=value]… [--yes] [--adopt-… <name> | --start-empty]
  deploys the service into the account of the AWS credentials, or brings a deployment up to date; prints its URL
${optionUsage}
  --yes             do not ask before rights are widened, as in CI
  --adopt-accounts, --adopt-records, --adopt-bucket
                    take over these tables and this bucket, which an earlier deployment has left or a backup was
                    restored to. Once, for a deployment that has none of its own
  --start-empty     begin with no data, though an earlier deployment has left some`;

const adoptFlags = {
  'adopt-accounts': { type: 'string' },
  'adopt-records': { type: 'string' },
  'adopt-bucket': { type: 'string' },
} as const;

const root = join(import.meta.dirname, '../../..');

/** The quota of functions as an option, which decides how many requests at once the stage lets through. */
async function concurrencyOption(options: DeploymentOptions): Promise<string[]> {
  if (options.concurrentFunctions !== undefined) return [];
  const quota = await concurrencyQuota(new LambdaClient(clientConfig(options)));
  if (quota === undefined) {
    process.stderr.write(
      `The quota of functions may not be read (lambda:GetAccountSettings); ${minConcurrency} are assumed.\n`,
    );
    return [];
  }
  return [`concurrentFunctions=${quota}`];
}

/** @throws CommandError where a first deployment would start empty beside what an earlier one has left */
async function refuseForgotten(options: DeploymentOptions): Promise<void> {
  const config = clientConfig(options);
  const stack = stackName(options, 'data');
  if ((await resourcesOf(new CloudFormationClient(config), stack)).length > 0) return;
  const kept = await findKeptData({ dynamoDb: new DynamoDBClient(config), s3: new S3Client(config) }, stack);
  const hint = adoptionHint(kept);
  if (hint === undefined) return;
  throw new CommandError(
    `An earlier deployment "${options.name}" has left its data.\n${hint}\nTo begin without it: npm run deploy -- --start-empty`,
  );
}

/**
 * Brings existing tables and an existing bucket into the data stack, by an import of CloudFormation: after it they are
 * resources of the stack like those that it makes itself. A deployment that holds them already is left alone.
 */
async function adopt(adopted: AdoptedData, options: DeploymentOptions, context: readonly string[]) {
  const config = clientConfig(options);
  const stack = stackName(options, 'data');
  const present = await resourcesOf(new CloudFormationClient(config), stack);
  const names = present.map(({ name }) => name);
  if (Object.values(adopted).every((name) => names.includes(name))) return 0;
  if (present.length > 0) {
    throw new CommandError(`The deployment "${options.name}" has tables and a bucket of its own: ${stack}.`);
  }
  await prepareAdopted({ dynamoDb: new DynamoDBClient(config), s3: new S3Client(config) }, adopted);
  const template = (
    await synthesizeTemplates(root, { ...(await cdkContext(root)), ...givenOptions(context) })
  ).get(stack);
  const resources = Object.entries(template?.Resources ?? {}).map(([id, { Type }]) => ({ id, type: Type }));
  const mapping = JSON.stringify(importMapping(resources, adopted));
  return runCdk(['import', stack, '--resource-mapping-inline', mapping], context);
}

/** `npm run deploy`: deploys the service, or brings a deployment up to date. */
async function deploy(): Promise<number> {
  const flags = {
    ...optionFlags,
    ...adoptFlags,
    yes: { type: 'boolean' },
    'start-empty': { type: 'boolean' },
  } as const;
  const { context = [], yes = false, ...given } = readFlags(usage, { options: flags }).values;
  const adopted = adoptedData({
    accounts: given['adopt-accounts'],
    records: given['adopt-records'],
    bucket: given['adopt-bucket'],
  });
  const options = await deployedOptions(context);
  const { id, region } = await callersAccount(options);
  process.stderr.write(`Deploying ${options.name} into account ${id}, ${region}\n`);
  if (adopted !== undefined) {
    const status = await adopt(adopted, options, context);
    if (status !== 0) return status;
  } else if (given['start-empty'] !== true) {
    await refuseForgotten(options);
  }
  const more = await concurrencyOption(options);
  return runCdk(['deploy', '--all', ...(yes ? ['--require-approval', 'never'] : [])], [...context, ...more]);
}

await runMain(deploy);
