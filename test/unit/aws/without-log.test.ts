import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { withoutLog } from '../../../shared/aws/without-log.ts';

const logging = /logger/i;

test.each([
  ['DynamoDB', () => new DynamoDBClient({ region: 'eu-central-1' })],
  ['S3', () => new S3Client({ region: 'eu-central-1' })],
])('a client of %s does not prepare what nobody logs', (_, make) => {
  expect(make().middlewareStack.identify().join('\n')).toMatch(logging);
  expect(withoutLog(make()).middlewareStack.identify().join('\n')).not.toMatch(logging);
});
