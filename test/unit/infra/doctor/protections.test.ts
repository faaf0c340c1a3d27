import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { expect, test } from 'vitest';
import { checkProtections } from '../../../../infra/aws/doctor/protections.ts';

/** CloudFormation that answers each operation with the next of its answers. */
function answering(answers: Readonly<Record<string, readonly object[]>>): CloudFormationClient {
  const left = Object.fromEntries(Object.entries(answers).map(([name, all]) => [name, [...all]]));
  const client = new CloudFormationClient({ region: 'us-east-1' });
  client.middlewareStack.add(
    (_, { commandName = '' }) =>
      async () => {
        const output = left[commandName]?.shift();
        if (output === undefined) throw new Error(`${commandName} was not expected`);
        return { output: { $metadata: {}, ...output }, response: {} };
      },
    { step: 'initialize' },
  );
  return client;
}

const detected = {
  DetectStackDriftCommand: [{ StackDriftDetectionId: 'd' }],
  DescribeStackDriftDetectionStatusCommand: [
    { DetectionStatus: 'DETECTION_IN_PROGRESS' },
    { DetectionStatus: 'DETECTION_COMPLETE' },
  ],
};

test('a property that is not as the deployment states is a problem that names both', async () => {
  const differing = {
    PhysicalResourceId: 'restored-records',
    StackResourceDriftStatus: 'MODIFIED',
    PropertyDifferences: [
      { PropertyPath: '/DeletionProtectionEnabled', ExpectedValue: 'true', ActualValue: 'false' },
    ],
  };
  const gone = { PhysicalResourceId: 'kept-bucket', StackResourceDriftStatus: 'DELETED' };
  const client = answering({
    ...detected,
    DescribeStackResourceDriftsCommand: [
      { StackResourceDrifts: [differing], NextToken: 'n' },
      { StackResourceDrifts: [gone] },
    ],
  });
  expect(await checkProtections(client, 'mps-data', 0)).toEqual([
    {
      outcome: 'problem',
      what: 'restored-records: DeletionProtectionEnabled is false, but the deployment states true',
    },
    { outcome: 'problem', what: 'kept-bucket was deleted' },
  ]);
});

test('tables and bucket that are as the deployment states are good', async () => {
  const client = answering({
    ...detected,
    DescribeStackResourceDriftsCommand: [{ StackResourceDrifts: [] }],
  });
  expect(await checkProtections(client, 'mps-data', 0)).toMatchObject([{ outcome: 'good' }]);
});

test('a comparison that fails is a note', async () => {
  const failed = { DetectionStatus: 'DETECTION_FAILED', DetectionStatusReason: 'no rights' };
  const client = answering({ ...detected, DescribeStackDriftDetectionStatusCommand: [failed] });
  expect(await checkProtections(client, 'mps-data', 0)).toMatchObject([
    { outcome: 'note', what: expect.stringContaining('no rights') },
  ]);
});
