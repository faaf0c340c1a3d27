import { expect, test } from 'vitest';
import { nonEmpty } from '../../support/non-empty.ts';
import { deployment, equipped, settingsOf } from './synthesized.ts';

const service = await deployment(equipped);

const definition = (name: string) =>
  service
    .of('AWS::Batch::JobDefinition')
    .find(({ Properties }) => Properties.JobDefinitionName === `model-project-service-${name}`)?.Properties;

test('what lost its host or did not start runs again, what ended by itself does not', () => {
  for (const { Properties } of nonEmpty(service.of('AWS::Batch::JobDefinition'))) {
    expect(Properties.RetryStrategy).toEqual({
      Attempts: 10,
      EvaluateOnExit: [
        { Action: 'RETRY', OnExitCode: '143' },
        { Action: 'EXIT', OnStatusReason: 'Essential container in task exited*' },
        { Action: 'EXIT', OnReason: 'OutOfMemoryError*' },
        { Action: 'RETRY', OnStatusReason: '*' },
        { Action: 'RETRY', OnReason: '*' },
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
  for (const name of ['train-image-1', 'cluster-image-1', 'gpu-image-1']) {
    expect(JSON.stringify(definition(name))).toContain('own/image:1');
  }
  const pulls = service.one('AWS::IAM::Policy', 'ExecutionRole').Properties.PolicyDocument.Statement;
  expect(JSON.stringify(pulls)).toContain(':ecr:eu-central-1:111122223333:repository/own/image');
});

test('a training with GPUs is a job of one container on EC2, with a node of its own', () => {
  const { Type, PlatformCapabilities, ContainerProperties } = definition('gpu');
  expect([Type, PlatformCapabilities]).toEqual(['container', ['EC2']]);
  expect(ContainerProperties.ResourceRequirements).toContainEqual({ Type: 'GPU', Value: '1' });
  // Half of the memory of a g4dn.xlarge; of an m6i.large on clusters.
  expect(ContainerProperties.LinuxParameters).toEqual({ SharedMemorySize: 8192 });
  const [range] = definition('cluster').NodeProperties.NodeRangeProperties;
  expect(range.Container.LinuxParameters).toEqual({ SharedMemorySize: 4096 });
  for (const key of [
    'NetworkConfiguration',
    'EphemeralStorage',
    'FargatePlatformConfiguration',
    'Privileged',
  ])
    expect(ContainerProperties).not.toHaveProperty(key);
  expect(ContainerProperties.Environment).toContainEqual({
    Name: 'NVIDIA_DRIVER_CAPABILITIES',
    Value: 'compute,utility',
  });
  const roles = ['train', 'gpu'].map((name) => definition(name).ContainerProperties.JobRoleArn);
  expect(roles[0]).toEqual(roles[1]);
});

const queue = (name: string) =>
  service
    .of('AWS::Batch::JobQueue')
    .find(({ Properties }) => Properties.JobQueueName === `model-project-service-${name}`)?.Properties;
const environmentsOf = (name: string) =>
  queue(name).ComputeEnvironmentOrder.map(
    ({ ComputeEnvironment }: { ComputeEnvironment: { 'Fn::GetAtt': string[] } }) =>
      service.resources.find(({ id }) => id === ComputeEnvironment['Fn::GetAtt'][0])?.Properties
        .ComputeResources,
  );

test('no queue mixes Spot with on demand, because Batch would move on at any price', () => {
  const typesOf = (name: string) => environmentsOf(name).map(({ Type }: { Type: string }) => Type);
  expect(['train', 'train-spot', 'gpu', 'gpu-spot'].map(typesOf)).toEqual([
    ['FARGATE'],
    ['FARGATE_SPOT'],
    ['EC2'],
    ['SPOT'],
  ]);
  expect(settingsOf(service, 'trainProjectFunction')).toMatchObject({
    CAPACITY: 'spot-then-on-demand',
    TRAIN_SPOT_QUEUE: 'model-project-service-train-spot',
    GPU_SPOT_QUEUE: 'model-project-service-gpu-spot',
  });
  const { EventPattern } = service.one('AWS::Events::Rule', 'jobStateChanged').Properties;
  for (const queue of ['train-spot', 'gpu-spot'])
    expect(JSON.stringify(EventPattern.detail.jobQueue)).toContain(`model-project-service-${queue}`);
});

test('GPUs have queues of their own: any zone, no placement group, nothing comes in', () => {
  const environments = [...environmentsOf('gpu'), ...environmentsOf('gpu-spot')];
  const subnets = service.of('AWS::EC2::Subnet');
  for (const environment of environments) {
    expect(environment).toMatchObject({
      MinvCpus: 0,
      MaxvCpus: 16,
      InstanceTypes: ['g4dn.xlarge'],
      Ec2Configuration: [{ ImageType: 'ECS_AL2023_NVIDIA' }],
    });
    expect(environment).not.toHaveProperty('PlacementGroup');
    expect(environment.Subnets).toHaveLength(subnets.length);
    expect(JSON.stringify(environment.SecurityGroupIds)).toContain('NetworkJobs');
  }
  // The address by which they reach registries: their jobs have the network of the node.
  for (const { Properties } of nonEmpty(subnets)) expect(Properties.MapPublicIpOnLaunch).toBe(true);
});

test('clusters without GPUs never overflow onto nodes with some: each kind has a queue of its own', () => {
  const typesOf = (name: string) =>
    environmentsOf(name).flatMap(({ InstanceTypes }: { InstanceTypes: string[] }) => InstanceTypes);
  expect(new Set(typesOf('cluster').map((type: string) => type.split('.')[0]))).toEqual(new Set(['m6i']));
  expect(typesOf('cluster-gpu')).toEqual(['g4dn.xlarge']);
  const settings = settingsOf(service, 'trainProjectFunction');
  expect([settings['CLUSTER_QUEUE'], settings['CLUSTER_GPU_QUEUE']]).toEqual([
    'model-project-service-cluster',
    'model-project-service-cluster-gpu',
  ]);
  const { EventPattern } = service.one('AWS::Events::Rule', 'jobStateChanged').Properties;
  expect(JSON.stringify(EventPattern.detail.jobQueue)).toContain(
    'job-queue/model-project-service-cluster-gpu',
  );
});

const onNodes = (one: typeof service) =>
  one
    .of('AWS::Batch::ComputeEnvironment')
    .map(({ Properties }) => Properties)
    .filter(({ ComputeResources }) => !ComputeResources.Type.startsWith('FARGATE'));

test('an upgrade leaves jobs on nodes as long as they may run, at most the five days that Batch takes', async () => {
  const minutesOf = (one: typeof service) =>
    onNodes(one).map(({ UpdatePolicy, ReplaceComputeEnvironment }) => {
      expect(UpdatePolicy.TerminateJobsOnUpdate).toBe(false);
      expect(ReplaceComputeEnvironment).toBe(false);
      return UpdatePolicy.JobExecutionTimeoutMinutes;
    });
  const [timeout] = service
    .of('AWS::Batch::JobDefinition')
    .map(({ Properties }) => Properties.Timeout.AttemptDurationSeconds);
  for (const minutes of minutesOf(service)) expect(minutes * 60).toBeGreaterThan(timeout);
  const long = await deployment({ limitJobSeconds: 14 * 24 * 60 * 60 });
  expect(new Set(minutesOf(long))).toEqual(new Set([7_200]));
});

test('every deployment gives nodes the newest image', () => {
  const { template } = service.app.synth().getStackByName('model-project-service-compute');
  for (const { ComputeResources } of onNodes(service)) {
    const [{ ImageType, ImageIdOverride }] = ComputeResources.Ec2Configuration;
    const { Type, Default } = template.Parameters[ImageIdOverride.Ref];
    expect(Type).toBe('AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>');
    const kind = ImageType === 'ECS_AL2023_NVIDIA' ? 'gpu/' : '';
    expect(Default).toBe(`/aws/service/ecs/optimized-ami/amazon-linux-2023/${kind}recommended/image_id`);
  }
});

test('nodes keep their image if the deployment says so', async () => {
  const keeping = await deployment({ newestNodeImage: 'false' });
  for (const { ComputeResources } of onNodes(keeping))
    expect(ComputeResources.Ec2Configuration).toEqual([{ ImageType: 'ECS_AL2023' }]);
});

test('nodes of a cluster are on demand, together in one subnet', () => {
  for (const environment of [...environmentsOf('cluster'), ...environmentsOf('cluster-gpu')]) {
    expect(environment.Type).toBe('EC2');
    expect(environment.Subnets).toHaveLength(1);
    expect(environment.PlacementGroup).toBeDefined();
    expect(JSON.stringify(environment.SecurityGroupIds)).toContain('NetworkCluster');
  }
});

test('functions know the queue of GPUs, may submit to it, and hear of its jobs', () => {
  const settings = settingsOf(service, 'trainProjectFunction');
  expect(settings).toMatchObject({
    GPUS: 'yes',
    GPU_QUEUE: 'model-project-service-gpu',
    GPU_DEFINITION: 'model-project-service-gpu',
  });
  expect(JSON.parse(settings['TRUSTED_IMAGES']!)).toEqual({
    '111122223333.dkr.ecr.eu-central-1.amazonaws.com/own/image:1': {
      train: 'model-project-service-train-image-1',
      cluster: 'model-project-service-cluster-image-1',
      gpu: 'model-project-service-gpu-image-1',
    },
  });
  const roles = JSON.stringify(service.of('AWS::IAM::Role'));
  for (const resource of ['job-queue/model-project-service-gpu', 'job-definition/model-project-service-gpu'])
    expect(roles).toContain(resource);
  const { EventPattern } = service.one('AWS::Events::Rule', 'jobStateChanged').Properties;
  expect(JSON.stringify(EventPattern.detail.jobQueue)).toContain('job-queue/model-project-service-gpu');
});

test('containers reach no instance metadata', () => {
  const { LaunchTemplateData } = service.of('AWS::EC2::LaunchTemplate')[0]!.Properties;
  expect(LaunchTemplateData.MetadataOptions).toEqual({
    HttpTokens: 'required',
    HttpPutResponseHopLimit: 1,
    HttpProtocolIpv6: 'disabled',
  });
  const userData: string = LaunchTemplateData.UserData['Fn::Base64'];
  expect(userData).toMatch(/^MIME-Version: 1\.0\nContent-Type: multipart\/mixed; boundary="(.+)"\n\n--\1\n/);
  expect(userData).toContain('ECS_AWSVPC_BLOCK_IMDS=true');
  expect(userData).toContain('ECS_DISABLE_PRIVILEGED=true');
  expect(userData).toContain('--destination 169.254.169.254/32 --jump DROP');
  // Jobs of one container have the network of the node, where only the owner of a socket tells who asks.
  const hook = userData.split('Content-Type: text/cloud-boothook')[1];
  for (const address of ['--destination 169.254.169.254/32', '--protocol tcp --destination-port 51678:51680'])
    expect(hook).toContain(
      `iptables --wait --insert OUTPUT ${address} --match owner ! --uid-owner 0 --jump REJECT`,
    );
  expect(hook).toContain('protect || { systemctl mask ecs.service; systemctl --no-block poweroff; }');
  for (const { Properties } of nonEmpty(service.of('AWS::Batch::ComputeEnvironment'))) {
    const { Type, LaunchTemplate } = Properties.ComputeResources;
    expect(LaunchTemplate === undefined).toBe(Type.startsWith('FARGATE'));
  }
});

test('nodes of a cluster reach one another on every port, and nobody else reaches them', () => {
  const [rule, ...others] = service.of('AWS::EC2::SecurityGroupIngress');
  expect(others).toEqual([]);
  expect(rule?.Properties).toMatchObject({ IpProtocol: '-1' });
  expect(rule?.Properties.GroupId).toEqual(rule?.Properties.SourceSecurityGroupId);
  for (const { Properties } of nonEmpty(service.of('AWS::EC2::SecurityGroup'))) {
    expect(Properties.SecurityGroupIngress ?? []).toEqual([]);
  }
});

test('a job that can never be placed is given up with a reason', () => {
  for (const { Properties } of nonEmpty(service.of('AWS::Batch::JobQueue'))) {
    const actions = Properties.JobStateTimeLimitActions;
    expect(actions).toHaveLength(3);
    for (const action of actions) {
      expect(action).toMatchObject({ Action: 'CANCEL', State: 'RUNNABLE' });
      expect(action.MaxTimeSeconds).toBeGreaterThanOrEqual(600);
      expect(action.MaxTimeSeconds).toBeLessThanOrEqual(86_400);
    }
  }
});
