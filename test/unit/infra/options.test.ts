import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOptions } from '../../../infra/aws/options/deployment-options.ts';
import { tableLike } from '../../support/table-like.ts';
import { optionsTable } from './options-table.ts';

test('infra/README.md shows every option as the deployment takes it: else paste the expected rows', async () => {
  const readme = await readFile(join(import.meta.dirname, '../../../infra/README.md'), 'utf8');
  const table = optionsTable();
  expect(tableLike(table, readme)).toBe(table);
});

test('options of the command line are text, those of cdk.json have their types', () => {
  const typed = readOptions({ spot: true, maxVcpus: 32, gpuInstanceTypes: ['g5.xlarge', 'g4dn.xlarge'] });
  const text = readOptions({ spot: 'true', maxVcpus: '32', gpuInstanceTypes: 'g5.xlarge,g4dn.xlarge' });
  expect(text).toEqual(typed);
  expect(readOptions({ tags: 'team=vision, equation=a=b' }).tags).toEqual({
    team: 'vision',
    equation: 'a=b',
  });
  expect(readOptions({ tags: { team: 'vision' } }).tags).toEqual({ team: 'vision' });
  expect(readOptions({ corsOrigins: ['https://a.example', 'https://b.example'] }).corsOrigins).toEqual([
    'https://a.example',
    'https://b.example',
  ]);
});

test("flags of the CDK's own are none of its business", () => {
  expect(readOptions({ '@aws-cdk/core:something': true, 'aws:cdk:bundling-stacks': [] }).name).toBe(
    'model-project-service',
  );
});

test('nodes are taken that fit, and those of a type that is not known', () => {
  const fitting = { gpuInstanceTypes: 'p4d.24xlarge,g6.xlarge' };
  expect(readOptions(fitting).gpuInstanceTypes).toHaveLength(2);
  expect(readOptions({ gpuInstanceTypes: 'p4d.24xlarge', gpuMaxVcpus: 96 }).gpuMaxVcpus).toBe(96);
  expect(readOptions({ gpuInstanceTypes: 'p9.48xlarge' }).gpuInstanceTypes).toEqual(['p9.48xlarge']);
});

test.each([
  [{ Spot: true }, /Spot/],
  [{ registration: 'everybody' }, /registration/],
  [{ maxVcpus: 0 }, /maxVcpus/],
  [{ corsOrigins: '*' }, /corsOrigins/],
  [{ clusterInstanceTypes: '' }, /clusterInstanceTypes/],
  [{ gpuInstanceTypes: 'big one' }, /gpuInstanceTypes/],
  [{ gpuInstanceTypes: 'p4d.24xlarge' }, /gpuMaxVcpus is 16, .* fewer than 96 vCPUs/],
  [{ clusterInstanceTypes: 'm6i.8xlarge' }, /clusterMaxVcpus is 16, .* fewer than 32 vCPUs/],
  [{ logRetentionDays: 31 }, /logRetentionDays/],
  [{ domainName: 'api.example' }, /must be given together/],
  [{ zones: 'eu-central-1' }, /zones\.0: must be the name of an availability zone/],
  [{ zones: 'eu-central-1a,eu-central-1a' }, /zones: must name each zone once/],
  [
    { zones: 'eu-central-1a', vpcId: 'vpc-0123456789abcdef0', subnetIds: 'subnet-0123456789abcdef0' },
    /with vpcId, use subnetIds instead/,
  ],
  [{ name: 'My Service' }, /name/],
  [{ jobDiskGiB: 29 }, /jobDiskGiB/],
  [{ tags: 'aws:own=1' }, /tags/],
  [{ tags: 'team' }, /tags/],
  [{ permissionsBoundary: 'a b' }, /permissionsBoundary/],
  [{ vpcId: 'vpc-0123456789abcdef0' }, /must be given together/],
  [{ subnetIds: 'subnet-0123456789abcdef0' }, /must be given together/],
  [{ publicAddresses: false }, /publicAddresses/],
])('%j is refused, with its name', (context, message) => {
  expect(() => readOptions(context)).toThrow(message);
});

test('instances are reserved for served models only where AWS lets the account', () => {
  expect(readOptions({ servingConcurrency: '50', concurrentFunctions: '1000' }).servingConcurrency).toBe(50);
  expect(() => readOptions({ servingConcurrency: 1, concurrentFunctions: 10 })).toThrow(
    'an account with 10 concurrent functions can reserve at most 0',
  );
});
