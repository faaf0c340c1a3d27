import { expect, test } from 'vitest';
import { nonEmpty } from '../../support/non-empty.ts';
import { deployment, equipped } from './synthesized.ts';

const service = await deployment(equipped);
const plain = await deployment();
const withoutAlarms = await deployment({ alarms: 'false', alarmEmail: 'somebody@example.org' });

/** Types of resources that cost nothing while nobody uses them. Whoever adds one says so here. */
const free = [
  'AWS::ApiGateway::Account',
  'AWS::ApiGateway::Deployment',
  'AWS::ApiGateway::RestApi',
  'AWS::ApiGateway::Stage',
  'AWS::Batch::ComputeEnvironment',
  'AWS::Batch::JobDefinition',
  'AWS::Batch::JobQueue',
  'AWS::Budgets::Budget',
  'AWS::CloudWatch::Alarm',
  'AWS::DynamoDB::Table',
  'AWS::EC2::InternetGateway',
  'AWS::EC2::LaunchTemplate',
  'AWS::EC2::PlacementGroup',
  'AWS::EC2::Route',
  'AWS::EC2::RouteTable',
  'AWS::EC2::SecurityGroup',
  'AWS::EC2::SecurityGroupIngress',
  'AWS::EC2::Subnet',
  'AWS::EC2::SubnetRouteTableAssociation',
  'AWS::EC2::VPC',
  'AWS::EC2::VPCEndpoint',
  'AWS::EC2::VPCGatewayAttachment',
  'AWS::Events::Rule',
  'AWS::IAM::InstanceProfile',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Lambda::Function',
  'AWS::Lambda::Permission',
  'AWS::Logs::LogGroup',
  'AWS::Logs::MetricFilter',
  'AWS::S3::Bucket',
  'AWS::S3::BucketPolicy',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::Queue',
  'AWS::SQS::QueuePolicy',
  'AWS::Scheduler::ScheduleGroup',
];

test('a budget of the account sends mails where there is an address, and costs nothing', () => {
  expect(plain.of('AWS::Budgets::Budget')).toEqual([]);
  const [budget] = service.of('AWS::Budgets::Budget');
  expect(budget?.Properties).toMatchObject({
    Budget: {
      BudgetType: 'COST',
      TimeUnit: 'MONTHLY',
      BudgetLimit: { Amount: 120, Unit: 'USD' },
    },
    NotificationsWithSubscribers: ['ACTUAL', 'FORECASTED'].map((NotificationType) => ({
      Notification: { NotificationType, Threshold: 100, ThresholdType: 'PERCENTAGE' },
      Subscribers: [{ SubscriptionType: 'EMAIL', Address: 'ops@example.org' }],
    })),
  });
  // Budgets with actions are those that are paid for.
  expect(JSON.stringify(budget)).not.toContain('Action');
});

test('there is nothing of a kind that costs money while nobody uses it', () => {
  expect([...new Set(service.resources.map(({ Type }) => Type))].sort()).toEqual(free);
});

test('tables are paid by request, and can be restored', () => {
  for (const { Properties } of nonEmpty(service.of('AWS::DynamoDB::Table'))) {
    expect(Properties).toMatchObject({ BillingMode: 'PAY_PER_REQUEST' });
    expect(Properties.PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: true });
    // The key of DynamoDB's own costs nothing; any other is a key of KMS.
    expect(Properties.SSESpecification).toBeUndefined();
  }
});

test('nothing ticks: what works off a list is started by its changes, by a stream that Lambda reads without charge', () => {
  for (const { Properties } of nonEmpty(service.of('AWS::Events::Rule'))) {
    expect(Properties).not.toHaveProperty('ScheduleExpression');
  }
  for (const { Properties } of nonEmpty(service.of('AWS::DynamoDB::Table'))) {
    expect(Properties.StreamSpecification).toEqual({ StreamViewType: 'KEYS_ONLY' });
  }
});

test('no compute waits for jobs', () => {
  const environments = service.of('AWS::Batch::ComputeEnvironment').map(({ Properties }) => Properties);
  expect(environments.map(({ ComputeResources }) => ComputeResources.Type).sort()).toEqual([
    'EC2',
    'EC2',
    'EC2',
    'FARGATE',
    'FARGATE_SPOT',
    'SPOT',
  ]);
  for (const { ComputeResources } of nonEmpty(environments)) expect(ComputeResources.MinvCpus ?? 0).toBe(0);
});

test('ways out of the network cost nothing', () => {
  for (const { Properties } of nonEmpty(service.of('AWS::EC2::VPCEndpoint'))) {
    expect(Properties.VpcEndpointType).toBe('Gateway');
  }
});

test('functions hold nothing ready', () => {
  for (const { Properties } of nonEmpty(service.of('AWS::Lambda::Function'))) {
    expect(Properties).not.toHaveProperty('VpcConfig');
    expect(Properties).not.toHaveProperty('SnapStart');
  }
});

test('no key of KMS is named anywhere', () => {
  expect(JSON.stringify(service.resources)).not.toMatch(/kms/i);
});

test('alarms have ten metrics at most, as many as are always free in an account', () => {
  const metrics = service
    .of('AWS::CloudWatch::Alarm')
    .map(({ Properties }) => Properties.Metrics?.length ?? 1);
  expect(metrics.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(10);
  expect(withoutAlarms.of('AWS::CloudWatch::Alarm')).toEqual([]);
});

test('alarms look at what clients, lists and tables would suffer from unseen', () => {
  const alarms = service.of('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties);
  const watched = alarms.map(({ Namespace, MetricName }) => `${Namespace} ${MetricName}`);
  expect(watched.sort()).toEqual([
    'AWS/ApiGateway 5XXError',
    'AWS/ApiGateway Latency',
    'AWS/DynamoDB ReadThrottleEvents',
    'AWS/DynamoDB WriteThrottleEvents',
    'AWS/DynamoDB WriteThrottleEvents',
    'AWS/Lambda IteratorAge',
    'AWS/Lambda IteratorAge',
    'AWS/Lambda Throttles',
    'AWS/SQS ApproximateNumberOfMessagesVisible',
    'model-project-service SetAside',
  ]);
  const { FilterPattern, LogGroupName } = service.one('AWS::Logs::MetricFilter', '').Properties;
  expect(FilterPattern).toBe('{ $.code = "set-aside" }');
  const purge = service.one('AWS::Lambda::Function', 'backgroundPassFunction').Properties;
  expect(purge.LoggingConfig.LogGroup).toEqual(LogGroupName);
  const throttles = alarms.find(({ MetricName }) => MetricName === 'Throttles');
  expect(throttles).not.toHaveProperty('Dimensions');
  const streamed = alarms.filter(({ MetricName }) => MetricName === 'IteratorAge');
  const functions = service
    .of('AWS::Lambda::Function')
    .filter(({ Properties }) => Properties.RecursiveLoop !== undefined);
  expect(streamed.map(({ Dimensions }) => Dimensions[0].Value.Ref).sort()).toEqual(
    functions.map(({ id }) => id).sort(),
  );
});

test('everything that accumulates goes away by itself: logs, dead letters, abandoned and replaced objects', () => {
  for (const { Properties } of nonEmpty(service.of('AWS::Logs::LogGroup')))
    expect(Properties.RetentionInDays).toBe(30);
  for (const { Properties } of nonEmpty(service.of('AWS::SQS::Queue'))) {
    expect(Properties.MessageRetentionPeriod).toBe(14 * 24 * 60 * 60);
  }
  const rules = service.of('AWS::S3::Bucket')[0]?.Properties.LifecycleConfiguration.Rules;
  expect(rules).toEqual([
    expect.objectContaining({ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 2 } }),
    expect.objectContaining({ Prefix: 'downloads/', ExpirationInDays: 30 }),
    expect.objectContaining({ NoncurrentVersionExpiration: { NoncurrentDays: 30 } }),
  ]);
  for (const { Properties } of nonEmpty(service.of('AWS::DynamoDB::Table'))) {
    expect(Properties.TimeToLiveSpecification).toEqual({ AttributeName: 'ttl', Enabled: true });
  }
});

test('without options there is less, and nothing else', () => {
  const types = new Set(plain.resources.map(({ Type }) => Type));
  expect([...types].filter((type) => !free.includes(type))).toEqual([]);
  expect(plain.of('AWS::Batch::ComputeEnvironment')).toHaveLength(3);
});
