import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { S3Client } from '@aws-sdk/client-s3';
import { CommandError } from '../../command/command-error.ts';
import { optionFlags, optionUsage, readFlags } from '../../command/read-flags.ts';
import { runMain } from '../../command/run-main.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { adoptionHint, type KeptData } from './adopt.ts';
import { type Emptied, emptyBucket } from './empty-bucket.ts';
import { ask } from './hidden-question.ts';
import {
  clientConfig,
  type DeployedResource,
  deletesData,
  deployedOptions,
  resourcesOf,
  stackKinds,
  stackName,
} from './read-deployment.ts';
import { runCdk } from './run-cdk.ts';

/** `npm run destroy`: print which parts will be removed and kept, ask for confirmation, and remove them. */
async function destroy(): Promise<number> {
  const { context = [] } = readFlags(usage, { options: optionFlags }).values;
  const options = await deployedOptions(context);
  const formation = new CloudFormationClient(clientConfig(options));
  const all = (
    await Promise.all(stackKinds.map((kind) => resourcesOf(formation, stackName(options, kind))))
  ).flat();
  if (all.length === 0) {
    throw new CommandError(`There is no deployment "${options.name}" in this account and region.`);
  }
  const data = all.filter(holdsData);
  // Use the deployed template: options may have changed since the deployment.
  const erases = data.length > 0 && (await deletesData(formation, stackName(options, 'data')));
  process.stdout.write(`${announcement(all, erases)}\n`);
  if ((await ask(`Type ${options.name} to continue: `)) !== options.name) {
    throw new CommandError('Nothing was removed.');
  }
  const status = await remove(options, data, { erases, context });
  const hint = status === 0 && !erases ? adoptionHint(keptData(data)) : undefined;
  if (hint !== undefined) process.stdout.write(`The data is kept.\n${hint}\n`);
  return status;
}

const usage = `Usage: npm run destroy -- [-c option=value]…
  lists the resources to remove and to keep, asks for confirmation, and removes them. After an interruption, run it
  again to continue
${optionUsage}`;

const holdsData = ({ type }: DeployedResource): boolean =>
  type === 'AWS::DynamoDB::Table' || type === 'AWS::S3::Bucket';

/** Return the text about removed and kept parts. */
function announcement(all: readonly DeployedResource[], erases: boolean): string {
  const data = all.filter(holdsData);
  const others = Map.groupBy(
    all.filter((resource) => !holdsData(resource)),
    ({ type }) => type,
  );
  const counts = [...others].map(([type, same]) => `  ${same.length} × ${type}`).sort();
  const kept = [
    ...(erases ? [] : data.map(named)),
    '  the job image and the bundles, in the resources of "npm run bootstrap" (CDKToolkit)',
    '  the role that lets API Gateway write logs, a setting of the whole account',
  ];
  return [
    'This will be removed:',
    ...(erases ? data.map((one) => `${named(one)}, WITH EVERYTHING IN IT`) : []),
    ...counts,
    'This stays:',
    ...kept,
    ...(erases
      ? []
      : [
          'To remove the data too, set deleteDataOnDestroy in cdk.json, run npm run deploy, and run this again.',
        ]),
  ].join('\n');
}

const named = ({ type, name }: DeployedResource): string =>
  `  ${type.split('::').slice(1).join(' ')} ${name}`;

/**
 * Remove first the stacks that write, then the objects, then tables and bucket. Nothing writes to the bucket while
 * it is emptied.
 */
async function remove(
  options: DeploymentOptions,
  data: readonly DeployedResource[],
  { erases, context }: { erases: boolean; context: readonly string[] },
): Promise<number> {
  const [dataStack, ...others] = stackKinds.map((kind) => stackName(options, kind));
  const writers = runCdk(['destroy', ...others, '--force'], context);
  if (writers !== 0) return writers;
  if (erases) {
    const client = new S3Client(clientConfig(options));
    for (const { type, name } of data) if (type === 'AWS::S3::Bucket') await emptyWithProgress(client, name);
  }
  return runCdk(['destroy', dataStack ?? '', '--force'], context);
}

/** Number of versions between two progress messages. */
const reportedVersions = 10_000;

async function emptyWithProgress(client: S3Client, bucket: string): Promise<void> {
  let reported = 0;
  const say = ({ versions, uploads }: Emptied) =>
    process.stderr.write(`${bucket}: ${versions} versions and ${uploads} unfinished uploads removed\n`);
  const removed = await emptyBucket(client, bucket, (soFar) => {
    if (soFar.versions - reported < reportedVersions) return;
    reported = soFar.versions;
    say(soFar);
  });
  say(removed);
}

function keptData(data: readonly DeployedResource[]): KeptData {
  const named = (id: string) => data.filter((one) => one.id.startsWith(id)).map(({ name }) => name);
  return { accounts: named('Accounts'), records: named('Records'), buckets: named('Bucket') };
}

await runMain(destroy);
