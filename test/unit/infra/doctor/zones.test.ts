import { EC2Client } from '@aws-sdk/client-ec2';
import { expect, test } from 'vitest';
import { checkZones } from '../../../../infra/aws/deploy/checks/zones.ts';
import { readOptions } from '../../../../infra/aws/options/deployment-options.ts';

/** What the zones of a region offer, as in those where new types are not everywhere. */
const region = {
  'eu-central-1a': ['m6i.large', 'm6i.xlarge', 'm6i.2xlarge', 'm6i.4xlarge'],
  'eu-central-1b': ['m6i.large', 'm6i.xlarge', 'm6i.2xlarge', 'm6i.4xlarge', 'g6.xlarge'],
  'eu-central-1c': ['m6i.large', 'm6i.xlarge', 'm6i.2xlarge', 'm6i.4xlarge', 'g6.xlarge', 'p5.4xlarge'],
} as const;

/** Answers as EC2 does in such a region. */
function regionClient(): EC2Client {
  const client = new EC2Client({ region: 'eu-central-1' });
  const answers: Record<string, (input: Record<string, unknown>) => object> = {
    DescribeAvailabilityZonesCommand: () => ({
      AvailabilityZones: Object.keys(region)
        .reverse()
        .map((ZoneName) => ({ ZoneName, State: 'available' })),
    }),
    DescribeInstanceTypeOfferingsCommand: ({ Filters }) => {
      const [{ Values }] = Filters as [{ Values: string[] }];
      return {
        InstanceTypeOfferings: Object.entries(region).flatMap(([Location, types]) =>
          types
            .filter((type) => Values.includes(type))
            .map((InstanceType) => ({ InstanceType, Location, LocationType: 'availability-zone' })),
        ),
      };
    },
    DescribeSubnetsCommand: () => ({
      Subnets: [
        { SubnetId: 'subnet-0123456789abcdef1', AvailabilityZone: 'eu-central-1a' },
        { SubnetId: 'subnet-0123456789abcdef0', AvailabilityZone: 'eu-central-1c' },
      ],
    }),
  };
  client.middlewareStack.add(
    (_, { commandName = '' }) =>
      async (args) => ({
        output: { ...answers[commandName]?.(args.input as Record<string, unknown>), $metadata: {} },
        response: {},
      }),
    { step: 'initialize', priority: 'high', name: 'region' },
  );
  return client;
}

const findings = async (context: Readonly<Record<string, unknown>> = {}) =>
  (await checkZones(regionClient(), readOptions(context))).map(({ outcome, what }) => `${outcome} ${what}`);

test('types that are offered where their nodes run are good', async () => {
  expect(await findings()).toEqual(['good zone: eu-central-1a offers all clusterInstanceTypes for clusters']);
});

test('a zone without any of the types is a problem, with the zones that have them', async () => {
  expect(await findings({ gpuInstanceTypes: 'g6.xlarge' })).toEqual([
    'good zone: eu-central-1a offers all clusterInstanceTypes for clusters',
    'problem zone: eu-central-1a does not offer g6.xlarge for clusters with GPUs, and thus none of gpuInstanceTypes, so none could start. All types are offered in eu-central-1b, eu-central-1c: -c zones=eu-central-1b,eu-central-1c',
    'good zone: eu-central-1a or eu-central-1b offers all gpuInstanceTypes for trainings with GPUs',
  ]);
  const advised = await findings({
    gpuInstanceTypes: 'g6.xlarge',
    zones: 'eu-central-1b,eu-central-1c',
  });
  expect(advised.map((one) => one.split(' ')[0])).toEqual(['good', 'good', 'good']);
});

test('a zone with some of the types is a note', async () => {
  const [, clusters] = await findings({
    gpuInstanceTypes: 'g6.xlarge,p5.4xlarge',
    zones: 'eu-central-1b',
  });
  expect(clusters).toMatch(
    /^note zone: eu-central-1b does not offer p5\.4xlarge for clusters with GPUs\. All types/,
  );
});

test('named zones must be of the region; of subnets the zone is asked', async () => {
  expect(await findings({ zones: 'us-east-1a' })).toEqual([
    'problem zone: this account has no us-east-1a; it has eu-central-1a, eu-central-1b, eu-central-1c',
  ]);
  const subnets = 'subnet-0123456789abcdef0,subnet-0123456789abcdef1';
  const [first] = await findings({ vpcId: 'vpc-0123456789abcdef0', subnetIds: subnets });
  expect(first).toBe('good zone: eu-central-1c offers all clusterInstanceTypes for clusters');
});
