import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settingNames } from '../../../shared/core/settings.ts';

const file = join(import.meta.dirname, '../../../infra/aws/stacks/function-variables.ts');

/** Set by Lambda and Batch themselves. */
const setByAws = ['AWS_REGION'];
/**
 * Set by `npm start` alone, or for it: on AWS jobs run in containers, S3 and the Hub of models are at their usual addresses,
 * hooks and issuers have public addresses only, API Gateway states the URL of the service, and there is no data folder.
 */
const setLocally = [
  'DATA_SIZE_FILE',
  'HF_ENDPOINT',
  'HOOK_HOSTS',
  'ISSUER_HOSTS',
  'JOBS_MEMORY',
  'JOBS_RUN_AS',
  'JOBS_SEPARATION',
  'S3_ENDPOINT',
  'S3_PUBLIC_ENDPOINT',
  'SERVICE_URL',
];

test('a deployment sets every variable that functions and jobs read', async () => {
  const text = await readFile(file, 'utf8');
  const unset = settingNames().filter((name) => !new RegExp(`\\b${name}:`).test(text));
  expect(unset.toSorted()).toEqual([...setByAws, ...setLocally]);
});
