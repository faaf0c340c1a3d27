import { expect, test } from 'vitest';
import { deployment } from './synthesized.ts';

const service = await deployment({
  spot: true,
  gpuInstanceTypes: ['g4dn.xlarge'],
  trustedImages: ['111122223333.dkr.ecr.eu-central-1.amazonaws.com/own/image:1'],
});

const definition = (name: string) =>
  service
    .of('AWS::Batch::JobDefinition')
    .find(({ Properties }) => Properties.JobDefinitionName === `model-project-service-${name}`)?.Properties;

test('what lost its host runs again, what ended by itself does not', () => {
  for (const { Properties } of service.of('AWS::Batch::JobDefinition')) {
    expect(Properties.RetryStrategy).toEqual({
      Attempts: 3,
      EvaluateOnExit: [
        { Action: 'RETRY', OnStatusReason: 'Host EC2*' },
        { Action: 'RETRY', OnStatusReason: 'Your Spot Task was interrupted*' },
        { Action: 'EXIT', OnReason: '*' },
      ],
    });
    expect(Properties.Timeout.AttemptDurationSeconds).toBe(21_600);
  }
});

test('a training runs on x64 Fargate with an address of its own, and a region', () => {
  const { ContainerProperties, PlatformCapabilities } = definition('train');
  expect(PlatformCapabilities).toEqual(['FARGATE']);
  expect(ContainerProperties).toMatchObject({
    Command: ['functions/jobs/train.job.js'],
    NetworkConfiguration: { AssignPublicIp: 'ENABLED' },
    RuntimePlatform: { CpuArchitecture: 'X86_64' },
    EphemeralStorage: { SizeInGiB: 50 },
  });
  const names = ContainerProperties.Environment.map(({ Name }: { Name: string }) => Name);
  expect(names).toEqual(expect.arrayContaining(['AWS_REGION', 'RECORDS_TABLE', 'BUCKET']));
  expect(names).not.toContain('ACCOUNTS_TABLE');
  expect(ContainerProperties).not.toHaveProperty('Privileged');
});

test('a cluster is of nodes that are all alike', () => {
  const { Type, NodeProperties } = definition('cluster');
  expect(Type).toBe('multinode');
  expect(NodeProperties.NodeRangeProperties).toHaveLength(1);
  expect(NodeProperties.NodeRangeProperties[0].TargetNodes).toBe('0:');
});

test('a trusted image has definitions of its own, since no submission can change an image', () => {
  for (const name of ['train-image-1', 'cluster-image-1']) {
    expect(JSON.stringify(definition(name))).toContain('own/image:1');
  }
  const pulls = service.one('AWS::IAM::Policy', 'ExecutionRole').Properties.PolicyDocument.Statement;
  expect(JSON.stringify(pulls)).toContain(':ecr:eu-central-1:111122223333:repository/own/image');
});

test('containers reach no instance metadata', () => {
  const { LaunchTemplateData } = service.of('AWS::EC2::LaunchTemplate')[0]!.Properties;
  expect(LaunchTemplateData.MetadataOptions).toEqual({ HttpTokens: 'required', HttpPutResponseHopLimit: 1 });
  const userData: string = LaunchTemplateData.UserData['Fn::Base64'];
  expect(userData).toMatch(/^MIME-Version: 1\.0\nContent-Type: multipart\/mixed; boundary="(.+)"\n\n--\1\n/);
  expect(userData).toContain('ECS_AWSVPC_BLOCK_IMDS=true');
  expect(userData).toContain('ECS_DISABLE_PRIVILEGED=true');
  expect(userData).toContain('--destination 169.254.169.254/32 --jump DROP');
  for (const { Properties } of service.of('AWS::Batch::ComputeEnvironment')) {
    const { Type, LaunchTemplate } = Properties.ComputeResources;
    expect(LaunchTemplate === undefined).toBe(Type !== 'EC2');
  }
});

test('nodes of a cluster reach one another on every port, and nobody else reaches them', () => {
  const [rule, ...others] = service.of('AWS::EC2::SecurityGroupIngress');
  expect(others).toEqual([]);
  expect(rule?.Properties).toMatchObject({ IpProtocol: '-1' });
  expect(rule?.Properties.GroupId).toEqual(rule?.Properties.SourceSecurityGroupId);
  for (const { Properties } of service.of('AWS::EC2::SecurityGroup')) {
    expect(Properties.SecurityGroupIngress ?? []).toEqual([]);
  }
});

test('a job that can never be placed is given up with a reason', () => {
  for (const { Properties } of service.of('AWS::Batch::JobQueue')) {
    const actions = Properties.JobStateTimeLimitActions;
    expect(actions).toHaveLength(3);
    for (const action of actions) {
      expect(action).toMatchObject({ Action: 'CANCEL', State: 'RUNNABLE' });
      expect(action.MaxTimeSeconds).toBeGreaterThanOrEqual(600);
      expect(action.MaxTimeSeconds).toBeLessThanOrEqual(86_400);
    }
  }
});
