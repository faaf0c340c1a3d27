import { expect, test } from 'vitest';
import { adoptContext } from '../../../infra/aws/options/api-context.ts';
import { deployment } from './synthesized.ts';

const service = await deployment();
const staging = await deployment({ name: 'staging' });

/** Types of resources that hold data, or an address that clients know. */
const lasting =
  /^AWS::(DynamoDB::Table|S3::Bucket|ApiGateway::(RestApi|Stage)|Logs::LogGroup|SQS::Queue|EC2::VPC)$/;

test('a redeploy finds what holds data, and the address of the API, in their stacks under their ids', () => {
  const found = service.resources
    .filter(({ Type }) => lasting.test(Type))
    .map(({ stack, id }) => `${stack.replace('model-project-service-', '')} ${id}`);
  // With another id or in another stack, CloudFormation makes a new one beside or in place of it.
  expect(found.sort()).toEqual([
    'api AccessLogD598EBE9',
    'api ApiDeploymentStagev102147F91',
    'api ApiF70053CD',
    'api FunctionLog05E39BEF',
    'background DeadLettersBBF8BAAB',
    'background FunctionLog05E39BEF',
    'compute JobLog4C5EADF5',
    'compute NetworkVpc7FB7348F',
    'data AccountsBE8A900E',
    'data Bucket83908E77',
    'data Records091F6ECA',
    'functions FunctionLog05E39BEF',
  ]);
});

test('mappings of streams keep the ids under which the function had another name, and so read on', () => {
  const mappings = service.of('AWS::Lambda::EventSourceMapping');
  expect(mappings.map(({ id, Properties }) => [id, Properties.FunctionName.Ref.slice(0, -8)]).sort()).toEqual(
    [
      ['archiveWatchrecordsD3F0CA14', 'archiveFunction'],
      ['sweepWatchaccounts3E668E8D', 'backgroundPassFunction'],
      ['sweepWatchrecordsA4F9D491', 'backgroundPassFunction'],
    ],
  );
});

test('the data stack goes on exporting what stacks of earlier releases import', () => {
  const { stacks } = service.app.synth();
  const data = stacks.find(({ stackName }) => stackName.endsWith('-data'));
  // It is brought up to date before them, and CloudFormation removes no export that is in use.
  expect(Object.keys(data?.template.Outputs)).toEqual(
    expect.arrayContaining([
      'ExportsOutputFnGetAttAccountsBE8A900EArn3C4EFE21',
      'ExportsOutputFnGetAttAccountsBE8A900EStreamArn4137F61D',
      'ExportsOutputFnGetAttBucket83908E77Arn063C8555',
      'ExportsOutputFnGetAttRecords091F6ECAArn8F34C005',
      'ExportsOutputFnGetAttRecords091F6ECAStreamArn3181A8FC',
      'ExportsOutputRefAccountsBE8A900E49F49769',
      'ExportsOutputRefBucket83908E7781C90AC0',
      'ExportsOutputRefRecords091F6ECAFB5589DB',
    ]),
  );
});

test('adopted tables and buckets are imported without protections, so that the deployment after it sets them', async () => {
  const bare = await deployment({ [adoptContext]: 'yes' });
  for (const { stack, id, Type, Properties, DeletionPolicy } of service.resources) {
    if (!stack.endsWith('-data') || !/Table$|Bucket$/.test(Type)) continue;
    const imported = bare.resources.find((one) => one.stack === stack && one.id === id);
    expect(imported?.DeletionPolicy).toBe(DeletionPolicy);
    const left = Object.keys(imported?.Properties ?? {});
    const keys = [
      'AttributeDefinitions',
      'BillingMode',
      'KeySchema',
      'StreamSpecification',
      'TimeToLiveSpecification',
    ];
    expect(left.sort()).toEqual(Type === 'AWS::S3::Bucket' ? [] : keys);
    expect(Object.keys(Properties)).toEqual(expect.arrayContaining(['Tags', ...left]));
  }
});

test('no stack but that of the data exports anything', () => {
  for (const { stackName, template } of service.app.synth().stacks) {
    const outputs: { Export?: unknown }[] = Object.values(template.Outputs ?? {});
    const exported = outputs.filter(({ Export }) => Export !== undefined);
    if (!stackName.endsWith('-data')) expect([stackName, exported]).toEqual([stackName, []]);
  }
});

test('functions come before the API that names them, and what submits after the queues', () => {
  const { stacks } = service;
  const names = (stack: keyof typeof stacks) =>
    stacks[stack].dependencies.map(({ stackName }) => stackName.replace('model-project-service-', '')).sort();
  expect(names('functions')).toEqual(['compute', 'data']);
  expect(names('api')).toEqual(['functions']);
  expect(names('background')).toEqual(['compute', 'data']);
});

test('the API of a stage has functions, roles and logs of this stage alone', () => {
  const text = JSON.stringify(staging.resources);
  expect(text).toContain(':function:staging-readProject/invocations');
  expect(text).not.toContain('model-project-service');
});
