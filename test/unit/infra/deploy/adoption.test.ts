import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { expect, test, vi } from 'vitest';
import { adoptedData, adoptionHint, importMapping, partsHint } from '../../../../infra/aws/deploy/adopt.ts';
import { resourcesOf } from '../../../../infra/aws/deploy/read-deployment.ts';

const adopted = { accounts: 'old-accounts', records: 'old-records', bucket: 'old-bucket' };

test('existing things become the resources of the data stack that they are', () => {
  const resources = [
    { id: 'AccountsBE8A900E', type: 'AWS::DynamoDB::Table' },
    { id: 'Records091F6ECA', type: 'AWS::DynamoDB::Table' },
    { id: 'BucketPolicyE9A3008A', type: 'AWS::S3::BucketPolicy' },
    { id: 'Bucket83908E77', type: 'AWS::S3::Bucket' },
  ];
  expect(importMapping(resources, adopted)).toEqual({
    AccountsBE8A900E: { TableName: 'old-accounts' },
    Records091F6ECA: { TableName: 'old-records' },
    Bucket83908E77: { BucketName: 'old-bucket' },
  });
});

test('tables and bucket are adopted together or not at all', () => {
  const none = { accounts: undefined, records: undefined, bucket: undefined };
  expect(adoptedData(none)).toBeUndefined();
  expect(adoptedData(adopted)).toEqual(adopted);
  expect(() => adoptedData({ ...none, records: 'old-records' })).toThrow(/must be given together/);
});

test('what is left over is told as the command that takes it over', () => {
  const kept = { accounts: ['a'], records: ['r'], buckets: ['b'] };
  expect(adoptionHint(kept)).toContain('--adopt-accounts a --adopt-records r --adopt-bucket b');
  expect(adoptionHint(kept)).not.toContain('several');
  expect(adoptionHint({ ...kept, buckets: ['b', 'c'] })).toMatch(/several[\s\S]*\n {2}c\n/);
  expect(adoptionHint({ ...kept, records: [] })).toBeUndefined();
});

test('what a creation that failed has kept is no resource of its stack', async () => {
  const client = new CloudFormationClient({ region: 'us-east-1' });
  const resource = (LogicalResourceId: string, ResourceStatus: string) => ({
    LogicalResourceId,
    ResourceStatus,
  });
  const StackResourceSummaries = [
    resource('Accounts', 'DELETE_SKIPPED'),
    resource('Bucket', 'DELETE_COMPLETE'),
    resource('Records', 'CREATE_COMPLETE'),
  ];
  vi.spyOn(client, 'send').mockImplementation(async () => ({ StackResourceSummaries }));

  expect((await resourcesOf(client, 'service-data')).map(({ id }) => id)).toEqual(['Records']);
});

test('a part of the data, which a creation that failed leaves, is told with the commands that remove it', () => {
  const text = partsHint({ accounts: ['a'], records: [], buckets: ['b'] });

  expect(text).toContain('aws dynamodb update-table --table-name a --no-deletion-protection-enabled');
  expect(text).toMatch(/delete-table --table-name a\n {2}aws s3api delete-bucket --bucket b$/);
  expect(partsHint({ accounts: [], records: [], buckets: [] })).toBeUndefined();
});
