import { expect, test } from 'vitest';
import { adoptedData, adoptionHint, importMapping } from '../../../../infra/aws/deploy/adopt.ts';

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
