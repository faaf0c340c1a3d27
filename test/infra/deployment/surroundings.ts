import { expect, test } from 'vitest';
import { subnetMask } from '../../../infra/aws/deploy/kept-subnets.ts';
import { subnetContext } from '../../../infra/aws/options/api-context.ts';
import { nonEmpty } from '../../support/non-empty.ts';
import { apiMethods, deployment } from './synthesized.ts';

const plain = await deployment();
const surrounded = await deployment({
  name: 'staging',
  tags: 'team=vision',
  permissionsBoundary: 'developers',
  vpcId: 'vpc-0123456789abcdef0',
  subnetIds: 'subnet-0123456789abcdef0,subnet-0123456789abcdef1',
  publicAddresses: 'false',
  gpuInstanceTypes: 'g4dn.xlarge',
});

test('a permissions boundary bounds every role', () => {
  const roles = surrounded.of('AWS::IAM::Role');
  expect(roles.length).toBe(plain.of('AWS::IAM::Role').length);
  for (const { Properties } of nonEmpty(roles)) {
    expect(JSON.stringify(Properties.PermissionsBoundary)).toContain(':policy/developers');
  }
  for (const { Properties } of nonEmpty(plain.of('AWS::IAM::Role'))) {
    expect(Properties).not.toHaveProperty('PermissionsBoundary');
  }
});

test('the functions of a stage are in the stack of their own, bounded, tagged, and those that its API names', () => {
  const ofStage = surrounded.of('AWS::Lambda::Function').filter(({ stack }) => stack === 'staging-functions');
  const named = apiMethods(surrounded).flatMap(({ uri }) => /:function:([^/"]+)/.exec(uri)?.[1] ?? []);
  expect(ofStage.map(({ Properties }) => Properties.FunctionName).sort()).toEqual([...new Set(named)].sort());
  const roles = surrounded.of('AWS::IAM::Role').filter(({ stack }) => stack === 'staging-functions');
  expect(roles.length).toBeGreaterThan(10);
  for (const { Properties } of nonEmpty(roles)) {
    expect(JSON.stringify(Properties.PermissionsBoundary)).toContain(':policy/developers');
  }
  for (const { Properties } of nonEmpty(ofStage)) {
    expect(Properties.Tags).toEqual(
      expect.arrayContaining([
        { Key: 'service', Value: 'staging' },
        { Key: 'team', Value: 'vision' },
      ]),
    );
  }
});

test('tags are on what costs money, also on the nodes that Batch starts', () => {
  const tag = { Key: 'team', Value: 'vision' };
  for (const type of ['AWS::DynamoDB::Table', 'AWS::S3::Bucket', 'AWS::Lambda::Function']) {
    for (const { Properties } of nonEmpty(surrounded.of(type))) expect(Properties.Tags).toContainEqual(tag);
  }
  for (const { Properties } of nonEmpty(surrounded.of('AWS::Batch::ComputeEnvironment'))) {
    expect(Properties.Tags).toMatchObject({ team: 'vision', service: 'staging' });
  }
  const { TagSpecifications } = surrounded.of('AWS::EC2::LaunchTemplate')[0]!.Properties.LaunchTemplateData;
  for (const { Tags } of TagSpecifications) expect(Tags).toContainEqual(tag);
  expect(TagSpecifications.map(({ ResourceType }: { ResourceType: string }) => ResourceType)).toEqual([
    'instance',
    'volume',
  ]);
});

test('jobs run in an existing VPC, of which nothing is made anew', () => {
  const made = surrounded.resources.map(({ Type }) => Type).filter((type) => type.startsWith('AWS::EC2::'));
  expect([...new Set(made)].sort()).toEqual([
    'AWS::EC2::LaunchTemplate',
    'AWS::EC2::PlacementGroup',
    'AWS::EC2::SecurityGroup',
    'AWS::EC2::SecurityGroupIngress',
  ]);
  for (const { Properties } of nonEmpty(surrounded.of('AWS::EC2::SecurityGroup'))) {
    expect(Properties.VpcId).toBe('vpc-0123456789abcdef0');
  }
  const subnets = surrounded
    .of('AWS::Batch::ComputeEnvironment')
    .map(({ id, Properties }) => [/Cluster/.test(id), Properties.ComputeResources.Subnets] as const);
  for (const [isCluster, ids] of subnets) expect(ids).toHaveLength(isCluster ? 1 : 2);
});

test('the network of the deployment lies in the zones that are named, and clusters in the first of them', async () => {
  const zoned = await deployment({ region: 'eu-central-1', zones: 'eu-central-1c,eu-central-1a' });
  const subnets = zoned.of('AWS::EC2::Subnet');
  expect(subnets.map(({ Properties }) => Properties.AvailabilityZone)).toEqual([
    'eu-central-1c',
    'eu-central-1a',
  ]);
  const { ComputeResources } = zoned.one('AWS::Batch::ComputeEnvironment', 'EnvironmentsCluster').Properties;
  expect(ComputeResources.Subnets).toEqual([{ Ref: subnets[0]?.id }]);
});

test('subnets have an address for each of thirty thousand jobs, and those of a deployment keep their size', async () => {
  const blocks = (of: typeof plain) =>
    of.of('AWS::EC2::Subnet').map(({ Properties }) => Properties.CidrBlock);
  expect(blocks(plain)).toEqual(['10.40.0.0/18', '10.40.64.0/18']);
  const many = 'abcdefgh'.split('').map((zone) => `us-east-1${zone}`);
  const zoned = await deployment({ region: 'us-east-1', zones: many.join() });
  expect(blocks(zoned)).toEqual(many.map((_, index) => `10.40.${index * 32}.0/19`));

  const earlier = { Type: 'AWS::EC2::Subnet', Properties: { CidrBlock: '10.40.0.0/20' } };
  const mask = subnetMask({ Resources: { earlier } });
  const kept = await deployment({ [subnetContext]: String(mask) });

  expect(blocks(kept)).toEqual(['10.40.0.0/20', '10.40.16.0/20']);
});

test('jobs in private subnets have no public address', () => {
  const addresses = (service: typeof plain) =>
    service
      .of('AWS::Batch::JobDefinition')
      .flatMap(
        ({ Properties }) => Properties.ContainerProperties?.NetworkConfiguration?.AssignPublicIp ?? [],
      );
  expect(new Set(addresses(surrounded))).toEqual(new Set(['DISABLED']));
  expect(new Set(addresses(plain))).toEqual(new Set(['ENABLED']));
});

test('several deployments in one account share no name', () => {
  const namesOf = ({ resources }: typeof plain) =>
    resources.flatMap(({ Properties }) =>
      Object.entries<unknown>(Properties).flatMap(([key, value]) =>
        /Name$/.test(key) && !/^(Attribute|Metric|Policy)Name$/.test(key) && typeof value === 'string'
          ? [value]
          : [],
      ),
    );
  const shared = namesOf(surrounded).filter((name) => namesOf(plain).includes(name));
  expect(shared.filter((name) => name !== 'v1')).toEqual([]);
});
