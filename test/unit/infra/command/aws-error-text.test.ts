import { describe, expect, test } from 'vitest';
import { awsErrorText } from '../../../../infra/command/run-main.ts';

const named = (name: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { name, ...more });

describe('an error of the AWS SDK', () => {
  test.each([
    [named('CredentialsProviderError', 'Could not load credentials'), /No AWS credentials[\s\S]*AWS_PROFILE/],
    [named('Error', 'Region is missing'), /No AWS region[\s\S]*AWS_REGION/],
    [
      named('ExpiredToken', 'The token is expired', { $metadata: {} }),
      /refused the credentials[\s\S]*aws sso login/,
    ],
    [named('Error', 'getaddrinfo', { code: 'ENOTFOUND' }), /cannot be reached[\s\S]*AWS_REGION/],
    [
      named('AccessDenied', 'no right to s3:x', { $metadata: {} }),
      /AWS refused: no right to s3:x \(AccessDenied\)/,
    ],
  ])('%s is told with what to do', (error, text) => {
    expect(awsErrorText(error)).toMatch(text);
    expect(awsErrorText(error)).not.toMatch(/^ +at /m);
  });

  test('is not what any other error is', () => {
    expect(awsErrorText(new TypeError('a defect'))).toBeUndefined();
  });
});
