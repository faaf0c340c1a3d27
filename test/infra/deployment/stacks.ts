import { expect, test } from 'vitest';
import { nonEmpty } from '../../support/non-empty.ts';
import { deployment, endpoints, events, jobs, settingsOf } from './synthesized.ts';

const service = await deployment();
const erasable = await deployment({
  deleteDataOnDestroy: 'true',
  name: 'other',
  region: 'eu-central-1',
  domainName: 'ml.example',
  certificateArn: 'arn:aws:acm:eu-central-1:111122223333:certificate/one',
  corsOrigins: 'https://app.example',
  servingConcurrency: '50',
  oidcIssuer: 'https://login.example.org',
  oidcClientSecret: 'mps/oidc',
  logLevel: 'debug',
});

test('tables and bucket are kept, also when they are replaced, unless asked', () => {
  const kept = [...service.of('AWS::DynamoDB::Table'), ...service.of('AWS::S3::Bucket')];
  expect(kept).toHaveLength(3);
  for (const one of nonEmpty(kept))
    expect(one).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  for (const { Properties } of nonEmpty(service.of('AWS::DynamoDB::Table'))) {
    expect(Properties.DeletionProtectionEnabled).toBe(true);
  }
  const erased = [...erasable.of('AWS::DynamoDB::Table'), ...erasable.of('AWS::S3::Bucket')];
  for (const one of nonEmpty(erased)) expect(one.DeletionPolicy).toBe('Delete');
});

test('the bucket cannot be made public, and is spoken to by TLS alone', () => {
  const bucket = service.of('AWS::S3::Bucket')[0]?.Properties;
  expect(bucket.PublicAccessBlockConfiguration).toEqual({
    BlockPublicAcls: true,
    BlockPublicPolicy: true,
    IgnorePublicAcls: true,
    RestrictPublicBuckets: true,
  });
  expect(bucket.OwnershipControls.Rules).toEqual([{ ObjectOwnership: 'BucketOwnerEnforced' }]);
  expect(bucket).not.toHaveProperty('AccessControl');
  expect(bucket).not.toHaveProperty('WebsiteConfiguration');
  const statements = service.of('AWS::S3::BucketPolicy')[0]?.Properties.PolicyDocument.Statement;
  expect(statements.map(({ Effect }: { Effect: string }) => Effect)).not.toContain('Allow');
  expect(statements[0].Condition).toEqual({ Bool: { 'aws:SecureTransport': 'false' } });
});

test('pages of the API, of the domain and of the allowed origins reach the files in the bucket', () => {
  const rules = erasable.of('AWS::S3::Bucket')[0]?.Properties.CorsConfiguration.CorsRules;
  expect(rules).toHaveLength(1);
  expect(rules[0].AllowedOrigins).toEqual([
    // China has a domain of its own.
    { 'Fn::Join': ['', ['https://*.execute-api.eu-central-1.', { Ref: 'AWS::URLSuffix' }]] },
    'https://ml.example',
    'https://app.example',
  ]);
});

test('functions run the latest Node on arm64, with memory and time that make sense, and ONNX Runtime on x86_64', () => {
  const functions = service.of('AWS::Lambda::Function');
  expect(functions).toHaveLength(endpoints.length + events.length + 1);
  for (const { id, Properties } of nonEmpty(functions)) {
    expect(Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: [id.startsWith('serveModels') ? 'x86_64' : 'arm64'],
      Handler: 'index.handler',
    });
    expect(Properties.MemorySize).toBeGreaterThanOrEqual(256);
    expect(Properties.MemorySize).toBeLessThanOrEqual(3008);
  }
  for (const { stack, id, Properties } of nonEmpty(functions)) {
    if (/-(api|functions)$/.test(stack)) expect([id, Properties.Timeout]).toEqual([id, 29]);
    // A file passes through the worker of archives in one run.
    else expect(Properties.Timeout).toBeLessThanOrEqual(id.startsWith('archive') ? 900 : 300);
  }
  for (const name of [
    'createUser',
    'createToken',
    'changePassword',
    'createFirstAdmin',
    'putProfilePicture',
  ]) {
    const { MemorySize } = service.one('AWS::Lambda::Function', `${name}Function`).Properties;
    expect(MemorySize).toBeGreaterThanOrEqual(1024);
  }
});

test('the secret of the client at the issuer is in no template, and only functions that sign people in have it', () => {
  const having = nonEmpty(erasable.of('AWS::Lambda::Function')).flatMap(({ id, Properties }) => {
    const { OIDC_CLIENT_SECRET } = Properties.Environment?.Variables ?? {};
    return OIDC_CLIENT_SECRET === undefined ? [] : [[id.replace(/Function.*$/, ''), OIDC_CLIENT_SECRET]];
  });

  const reference = '{{resolve:secretsmanager:mps/oidc:SecretString:::}}';
  expect(having).toEqual(
    expect.arrayContaining([
      ['finishSignIn', reference],
      ['redeemSignIn', reference],
    ]),
  );
  expect(having.length).toBeLessThan(8);
});

test('the functions of a stack share one log group, which exists before them', () => {
  for (const { Properties } of nonEmpty(service.of('AWS::Lambda::Function'))) {
    expect(Properties.LoggingConfig.LogGroup.Ref).toMatch(/^FunctionLog/);
  }
});

test('functions log in JSON, and Lambda adds lines about calls that failed alone, unless everything is logged', () => {
  const levels = (of: typeof service) =>
    new Set(
      nonEmpty(of.of('AWS::Lambda::Function')).map(({ Properties }) => {
        const { LogFormat, ApplicationLogLevel, SystemLogLevel } = Properties.LoggingConfig;
        return [LogFormat, ApplicationLogLevel, SystemLogLevel].join();
      }),
    );
  expect(levels(service)).toEqual(new Set(['JSON,INFO,WARN']));
  expect(levels(erasable)).toEqual(new Set(['JSON,DEBUG,INFO']));
});

test('every event source has a dead-letter queue, and so has every function that one starts', () => {
  const rules = service.of('AWS::Events::Rule');
  const watching = service.of('AWS::Lambda::EventSourceMapping');
  // A call of `notify` that fails leaves its work to the next pass.
  const invoked = service
    .of('AWS::Lambda::EventInvokeConfig')
    .filter(({ Properties }) => Properties.MaximumRetryAttempts > 0);
  const failures = [...invoked, ...watching];
  expect(rules).toHaveLength(1);
  // One for each table of a function, whatever number of its lists is watched.
  const watchedTables = events.flatMap(({ watches }) => [...new Set(watches.map(({ table }) => table))]);
  expect(watching).toHaveLength(watchedTables.length);
  // Lambda allows five filters of an event source.
  for (const { Properties } of nonEmpty(watching))
    expect(Properties.FilterCriteria.Filters.length).toBeLessThanOrEqual(5);
  // Besides rules and lists, timers start the function of schedules.
  expect(failures).toHaveLength(rules.length + watching.length + 1);
  for (const { Properties } of nonEmpty(rules)) {
    expect(Properties.Targets).toHaveLength(1);
    expect(Properties.Targets[0].DeadLetterConfig.Arn).toBeDefined();
  }
  for (const { Properties } of nonEmpty(failures)) {
    expect(Properties.DestinationConfig.OnFailure.Destination).toBeDefined();
  }
});

test('whoever watches a list is started by its changes alone, minutes after them, until it succeeds', () => {
  const filters = (id: string) =>
    service
      .of('AWS::Lambda::EventSourceMapping')
      .filter((one) => one.id.startsWith(id))
      .flatMap(({ Properties }) => Properties.FilterCriteria.Filters)
      .map(({ Pattern }) => JSON.parse(Pattern));
  const ofList = (...partitions: readonly string[]) => ({
    eventName: ['INSERT', 'MODIFY'],
    dynamodb: { Keys: { pk: { S: partitions.map((prefix) => ({ prefix })) } } },
  });
  expect(filters('archive')).toEqual([ofList('ARCHIVES')]);
  expect(filters('sweepWatchaccounts')).toEqual([ofList('CLOSED_ACCOUNTS')]);
  expect(filters('sweepWatchrecords')).toEqual([
    ofList(
      'UNFINISHED_JOBS',
      'WAITING_LINES',
      'SWEEP_TURNS',
      'PURGES',
      'NOTICES',
      'DELIVERY_LANES',
      'SCHEDULE_TIMES',
      'EXPORT_STEPS',
    ),
    // What is kept for a time expires, and so starts the purge.
    { ...ofList('RETAINED'), eventName: ['INSERT', 'MODIFY', 'REMOVE'] },
  ]);
  const recurring = service
    .of('AWS::Lambda::Function')
    .filter(({ Properties }) => Properties.RecursiveLoop !== undefined)
    .map(({ Properties }) => [Properties.Description, Properties.RecursiveLoop]);
  expect(recurring.sort()).toEqual([
    ['Task archive', 'Allow'],
    ['Task backgroundPass', 'Allow'],
  ]);
  for (const { Properties } of nonEmpty(service.of('AWS::Lambda::EventSourceMapping'))) {
    expect(Properties).toMatchObject({
      MaximumBatchingWindowInSeconds: 300,
      StartingPosition: 'TRIM_HORIZON',
      MaximumRetryAttempts: 30,
    });
  }
});

test('at most two functions read the stream of a table: DynamoDB throttles the third reader of a shard', () => {
  const streams = service
    .of('AWS::Lambda::EventSourceMapping')
    .map(({ Properties }) => JSON.stringify(Properties.EventSourceArn));
  for (const readers of Map.groupBy(streams, (stream) => stream).values())
    expect(readers.length).toBeLessThanOrEqual(2);
});

test('variables that Lambda would refuse are refused when templates are made, with the options they come of', async () => {
  const image = (index: number) =>
    `111122223333.dkr.ecr.eu-central-1.amazonaws.com/${'own/'.repeat(40)}${index}`;
  const trustedImages = Array.from({ length: 8 }, (_, index) => image(index)).join(',');
  await expect(deployment({ trustedImages, gpuInstanceTypes: 'g4dn.xlarge' })).rejects.toThrow(
    /^The variables of a function have \d+ bytes, but Lambda allows 4096\. Shorten trustedImages \d+, /,
  );
  expect(JSON.stringify(settingsOf(service, 'trainProjectFunction')).length).toBeLessThan(4096);
});

test('the rule for Batch listens to the queues of the service alone', () => {
  const { EventPattern } = service.one('AWS::Events::Rule', 'jobStateChanged').Properties;
  expect(EventPattern).toMatchObject({
    source: ['aws.batch'],
    'detail-type': ['Batch Job State Change'],
  });
  expect(JSON.stringify(EventPattern.detail.jobQueue)).toContain('job-queue/model-project-service-train');
  expect(EventPattern.detail.jobQueue).toHaveLength(3);
});

test('no route and no event leads to the function of the first admin', () => {
  const text = JSON.stringify([
    ...service.of('AWS::ApiGateway::RestApi'),
    ...service.of('AWS::Lambda::Permission'),
    ...service.of('AWS::Events::Rule'),
    ...service.of('AWS::Lambda::EventSourceMapping'),
  ]);
  expect(text).not.toContain('createFirstAdmin');
});

test('the deployment prints where it is and what to do next', () => {
  const { stacks } = service.app.synth();
  const outputs = stacks.flatMap(({ template }) => Object.keys(template.Outputs ?? {}));
  expect(outputs).toEqual(expect.arrayContaining(['BaseUrl', 'DocsUrl', 'Bootstrap', 'FirstAdminFunction']));
});

test('another name and region make another deployment', () => {
  expect(erasable.of('AWS::Batch::JobQueue').map(({ Properties }) => Properties.JobQueueName)).toEqual([
    'other-train',
    'other-train-spot',
    'other-cluster',
  ]);
  expect(erasable.stacks.api.region).toBe('eu-central-1');
});

test('without GPUs there is nothing for them, and functions say so', () => {
  const queues = service.of('AWS::Batch::JobQueue').map(({ Properties }) => Properties.JobQueueName);
  expect(queues).toEqual(['train', 'train-spot', 'cluster'].map((queue) => `model-project-service-${queue}`));
  expect(service.of('AWS::Batch::ComputeEnvironment')).toHaveLength(3);
  expect(settingsOf(service, 'trainProjectFunction')['GPUS']).toBe('no');
});

test('every job has a definition, and a training one for clusters too', () => {
  const names = service.of('AWS::Batch::JobDefinition').map(({ Properties }) => Properties.JobDefinitionName);
  expect(names.sort()).toEqual(
    [...jobs.map(({ name }) => name), 'cluster'].map((name) => `model-project-service-${name}`).sort(),
  );
});

test('instances are reserved for served models where they are asked for, and for nothing else', () => {
  const reserved = ({ of }: typeof service) =>
    of('AWS::Lambda::Function').flatMap(({ id, Properties }) =>
      Properties.ReservedConcurrentExecutions === undefined
        ? []
        : [[id.startsWith('serveModels'), Properties.ReservedConcurrentExecutions]],
    );

  expect(reserved(service)).toEqual([]);
  expect(reserved(erasable)).toEqual([[true, 50]]);
});
