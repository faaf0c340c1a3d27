import { expect, test } from 'vitest';
import { readSettings } from '../../../shared/core/settings.ts';

const own = { RECORDS_TABLE: 'records', BUCKET: 'bucket' };

test('settings that all functions share come in one variable, a line each', () => {
  const prices = '{"fargate":{"base":0.01,"vcpu":0.04,"gib":0.004},"nodes":[]}';

  const settings = readSettings({ ...own, SETTINGS: `LIMIT_VCPUS=32\nPRICES=${prices}\nREGISTRATION=open` });

  expect(settings.limits.vcpus).toBe(32);
  expect(settings.prices?.fargate.vcpu).toBe(0.04);
  expect(settings.registration).toBe('open');
});

test('a variable of a function comes before a shared one', () => {
  const settings = readSettings({ ...own, LIMIT_VCPUS: '8', SETTINGS: 'LIMIT_VCPUS=32' });

  expect(settings.limits.vcpus).toBe(8);
});

test('a shared setting that is wrong is named', () => {
  expect(() => readSettings({ ...own, SETTINGS: 'LIMIT_VCPUS=many' })).toThrow(
    /LIMIT_VCPUS: must be a whole number/,
  );
});
