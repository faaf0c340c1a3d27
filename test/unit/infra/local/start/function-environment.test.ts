import { describe, expect, test } from 'vitest';
import {
  engineAccess,
  enterFunctionEnvironment,
  jobVariables,
} from '../../../../../infra/local/start/function-environment.ts';

const made = { accessKeyId: 'made', secretAccessKey: 'made-secret' };
const own = {
  HOME: '/home/ada',
  AWS_PROFILE: 'work',
  AWS_REGION: 'eu-north-1',
  AWS_ACCESS_KEY_ID: 'mine',
  AWS_SECRET_ACCESS_KEY: 'my-secret',
  AWS_SESSION_TOKEN: 'my-session',
  LIMIT_VCPUS: '2',
};

describe('the environment of functions', () => {
  test('has nothing of the AWS account of whoever starts the service', () => {
    const environment: NodeJS.ProcessEnv = { ...own };
    enterFunctionEnvironment(environment, engineAccess(environment, made));
    expect(environment).toMatchObject({
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'made',
      AWS_SECRET_ACCESS_KEY: 'made-secret',
      AWS_CONFIG_FILE: '/dev/null',
      ACCOUNTS_TABLE: 'accounts',
      LIMIT_VCPUS: '2',
    });
    expect(environment).not.toHaveProperty('AWS_PROFILE');
    expect(environment).not.toHaveProperty('AWS_SESSION_TOKEN');
  });

  test('has its credentials and region where an engine was replaced', () => {
    const access = engineAccess({ ...own, S3_ENDPOINT: 'http://127.0.0.1:9000' }, made);
    expect(access).toEqual({
      region: 'eu-north-1',
      credentials: { accessKeyId: 'mine', secretAccessKey: 'my-secret' },
      endpoints: { S3_ENDPOINT: 'http://127.0.0.1:9000' },
      hasRoles: false,
    });
  });

  test('does not tell jobs where the accounts are, nor anything it was not asked to', () => {
    const variables = jobVariables(own, engineAccess(own, made));
    expect(variables).toMatchObject({ RECORDS_TABLE: 'records', BUCKET: 'projects', LIMIT_VCPUS: '2' });
    expect(variables).not.toHaveProperty('ACCOUNTS_TABLE');
    expect(variables).not.toHaveProperty('HOME');
    expect(Object.values(variables)).not.toContain('my-secret');
  });
});
