import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  countGpus,
  emulatorAccess,
  enterFunctionEnvironment,
  jobSlots,
  jobVariables,
  placesOfUser,
} from '../../../../../infra/local/start/function-environment.ts';

import { readSettings } from '../../../../../shared/core/settings.ts';

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

test('the GPUs of a machine are the devices of its driver', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mps-dev-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  expect(countGpus(folder)).toBe(0);
  for (const name of ['nvidia0', 'nvidia1', 'nvidiactl', 'nvidia-uvm', 'null'])
    await writeFile(join(folder, name), '');
  expect(countGpus(folder)).toBe(2);
  expect(countGpus(join(folder, 'absent'))).toBe(0);
});

describe('the environment of functions', () => {
  test('hands as many jobs of a user to Batch as can run, and two, unless it was asked otherwise', () => {
    expect(placesOfUser()).toBe(jobSlots() + 2);
    const none = {
      LIMIT_UNFINISHED_JOBS: String(placesOfUser()),
      LIMIT_WAITING_JOBS: 'none',
      JOBS_RUN_AS: 'processes',
    };
    expect(jobVariables(own, emulatorAccess(own, made))).toMatchObject(none);
    const limited = { ...own, LIMIT_UNFINISHED_JOBS: '3' };
    const variables = jobVariables(limited, emulatorAccess(limited, made));
    expect(variables).toMatchObject({ ...none, LIMIT_UNFINISHED_JOBS: '3' });
    const { limits } = readSettings({ ...variables, RECORDS_TABLE: 'r', BUCKET: 'b' });
    expect(limits.unfinishedJobs).toBe(3);
    expect(limits.waitingJobs).toBeGreaterThan(1e12);
  });

  test('has nothing of the AWS account of whoever starts the service', () => {
    const environment: NodeJS.ProcessEnv = { ...own };
    enterFunctionEnvironment(environment, emulatorAccess(environment, made));
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
    const access = emulatorAccess({ ...own, S3_ENDPOINT: 'http://127.0.0.1:9000' }, made);
    expect(access).toEqual({
      region: 'eu-north-1',
      credentials: { accessKeyId: 'mine', secretAccessKey: 'my-secret' },
      endpoints: { S3_ENDPOINT: 'http://127.0.0.1:9000' },
      hasRoles: false,
    });
  });

  test('does not tell jobs where the accounts are, nor anything it was not asked to', () => {
    const variables = jobVariables(own, emulatorAccess(own, made));
    expect(variables).toMatchObject({ RECORDS_TABLE: 'records', BUCKET: 'projects', LIMIT_VCPUS: '2' });
    expect(variables).not.toHaveProperty('ACCOUNTS_TABLE');
    expect(variables).not.toHaveProperty('HOME');
    expect(Object.values(variables)).not.toContain('my-secret');
  });
});
