import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { S3Client } from '@aws-sdk/client-s3';
import { objectWriter } from '../../shared/aws/objects.ts';
import { CommandError } from '../command/command-error.ts';
import { readFlags } from '../command/read-flags.ts';
import { runCommand } from '../command/run-command.ts';
import {
  type DeployedResource,
  deployedOptions,
  placeOf,
  resourcesOf,
  stackKinds,
  stackName,
} from './deployed.ts';
import { ask } from './hidden-question.ts';

const holdsData = ({ type }: DeployedResource): boolean =>
  type === 'AWS::DynamoDB::Table' || type === 'AWS::S3::Bucket';
const named = ({ type, name }: DeployedResource): string =>
  `  ${type.split('::').slice(1).join(' ')} ${name}`;

/** What will be removed and what stays, in words. */
function announcement(all: readonly DeployedResource[], erases: boolean): string {
  const data = all.filter(holdsData);
  const others = Map.groupBy(
    all.filter((resource) => !holdsData(resource)),
    ({ type }) => type,
  );
  const counts = [...others].map(([type, same]) => `  ${same.length} × ${type}`).sort();
  const kept = [
    ...(erases ? [] : data.map(named)),
    '  the job image and the bundles, in what "cdk bootstrap" has made (CDKToolkit)',
    '  the role by which API Gateway writes logs, a setting of the whole account',
  ];
  return [
    'This will be removed:',
    ...(erases ? data.map((one) => `${named(one)}, WITH EVERYTHING IN IT`) : []),
    ...counts,
    'This stays:',
    ...kept,
    ...(erases
      ? []
      : ['To remove the data too: set deleteDataOnDestroy in cdk.json, npm run deploy, then this again.']),
  ].join('\n');
}

async function empty(bucket: string, region: { region?: string }): Promise<void> {
  const objects = objectWriter(new S3Client(region), bucket);
  for (;;) {
    const { objects: page } = await objects.list('');
    if (page.length === 0) return;
    await objects.delete(page.map(({ key }) => key));
  }
}

const usage =
  'Usage: npm run destroy\n  says what it will remove from the account and what it keeps, asks, and removes it';

/** `npm run destroy`: says what it will remove and what it keeps, asks, and removes it. */
async function destroy(): Promise<number> {
  readFlags(usage, {});
  const options = await deployedOptions();
  const formation = new CloudFormationClient(placeOf(options));
  const all = (
    await Promise.all(stackKinds.map((kind) => resourcesOf(formation, stackName(options, kind))))
  ).flat();
  if (all.length === 0) throw new CommandError('Nothing is deployed in this account and region.');
  process.stdout.write(`${announcement(all, options.deleteDataOnDestroy)}\n`);
  if ((await ask(`Type ${options.name} to go on: `)) !== options.name) {
    throw new CommandError('Nothing was removed.');
  }
  if (options.deleteDataOnDestroy) {
    for (const { type, name } of all) if (type === 'AWS::S3::Bucket') await empty(name, placeOf(options));
  }
  const { status } = spawnSync('cdk', ['destroy', '--all', '--force'], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: 'inherit',
  });
  return status ?? 1;
}

await runCommand(destroy);
