import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { expect, test } from 'vitest';
import { checkQuotas, quotasFor } from '../../../../infra/aws/deploy/checks/quotas.ts';
import { checkForJobs } from '../../../../infra/aws/doctor/for-jobs.ts';
import { readOptions } from '../../../../infra/aws/options/deployment-options.ts';

const needed = (context: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(quotasFor(readOptions(context)).map(({ code, needed }) => [code, needed]));

const usual = { 'L-3032A538': 16, 'L-1216C47A': 16 };

test('nodes of each family count against the quota of their family', () => {
  expect(needed({})).toEqual(usual);
  const sizes = { clusterMaxVcpus: 200, gpuMaxVcpus: 192 };
  const plain = { ...usual, 'L-1216C47A': 200 };
  expect(needed({ ...sizes, gpuInstanceTypes: 'g4dn.xlarge,gr6.4xlarge,g6e.xlarge' })).toEqual({
    ...plain,
    'L-DB2E81BA': 392,
  });
  expect(needed({ ...sizes, gpuInstanceTypes: 'p4d.24xlarge,p5.48xlarge' })).toEqual({
    ...plain,
    'L-417A185B': 392,
  });
});

test('on Spot single nodes count against the quotas of Spot and on demand, nodes of a cluster against these alone', () => {
  const options = { spot: true, clusterMaxVcpus: 200, gpuMaxVcpus: 192 };
  expect(needed({ ...options, gpuInstanceTypes: 'g6.xlarge,p3.2xlarge,p5.4xlarge' })).toEqual({
    'L-3032A538': 16,
    'L-36FBB829': 16,
    'L-1216C47A': 200,
    'L-DB2E81BA': 392,
    'L-417A185B': 392,
    'L-3819A6DF': 192,
    'L-7212CCBC': 192,
    'L-C4BD4855': 192,
  });
});

/** Answers as an account does that has so much of every quota. */
function accountWith(quotas: Readonly<Record<string, number>>): ServiceQuotasClient {
  const client = new ServiceQuotasClient({ region: 'us-east-1' });
  client.middlewareStack.add(
    () => async (args) => {
      const { QuotaCode } = args.input as { QuotaCode: string };
      return { output: { Quota: { Value: quotas[QuotaCode] ?? 64 }, $metadata: {} }, response: {} };
    },
    { step: 'initialize', priority: 'high', name: 'account' },
  );
  return client;
}

const findings = async (quotas: Readonly<Record<string, number>>, context = {}) =>
  (await checkQuotas(accountWith(quotas), readOptions(context))).map(({ outcome, what }) => [
    outcome,
    /quota: \d+/.exec(what)?.[0],
  ]);

test('a quota that no node fits in is a problem, a smaller one than the options allow lets jobs wait', async () => {
  const gpus = { gpuInstanceTypes: 'g5.2xlarge,g5.4xlarge' };
  const usual = [
    ['good', 'quota: 64'],
    ['good', 'quota: 64'],
  ];
  // A new account has none of G and VT.
  expect(await findings({ 'L-DB2E81BA': 0 }, gpus)).toEqual([...usual, ['problem', 'quota: 0']]);
  expect(await findings({ 'L-DB2E81BA': 7 }, gpus)).toEqual([...usual, ['problem', 'quota: 7']]);
  expect(await findings({ 'L-DB2E81BA': 8 }, gpus)).toEqual([...usual, ['note', 'quota: 8']]);
  expect(await findings({ 'L-3032A538': 0 })).toEqual([['problem', 'quota: 0'], usual[0]]);
  expect(await findings({ 'L-1216C47A': 1 })).toEqual([usual[0], ['problem', 'quota: 1']]);
});

test('what ten thousand jobs need is told beside what the account has', async () => {
  const asked = async (quotas: Readonly<Record<string, number>>, context: object, concurrency: number) =>
    (await checkForJobs(accountWith(quotas), readOptions({ ...context }), { jobs: 10_000, concurrency })).map(
      ({ outcome, what }) => `${outcome} ${what}`,
    );

  const small = await asked({ 'L-3032A538': 6, 'L-DF5E4CA3': 5_000 }, {}, 10);
  const large = await asked(
    { 'L-3032A538': 10_000, 'L-36FBB829': 10_000, 'L-DF5E4CA3': 20_000 },
    { spot: true, maxVcpus: 10_000, limitVcpus: 10_000, concurrentFunctions: 1_000 },
    1_000,
  );

  expect(small.slice(0, 5)).toEqual([
    expect.stringMatching(/^note quota: 6 vCPUs of Fargate, but 10000 jobs need 10000; .*L-3032A538/),
    expect.stringMatching(/^note quota: 5000 network interfaces, but 10000 jobs need 10000; .*L-DF5E4CA3/),
    expect.stringMatching(/^note quota: 10 concurrent functions, but 200 are needed/),
    'note option: maxVcpus 16, but 10000 jobs need 10000: -c maxVcpus=10000',
    'note option: limitVcpus 16, but 10000 jobs need 10000: -c limitVcpus=10000',
  ]);
  const spotOnly = await asked({ 'L-36FBB829': 10_000 }, { spot: true }, 1_000);

  expect(spotOnly.slice(0, 2)).toEqual([
    expect.stringMatching(/^note quota: 64 vCPUs of Fargate, but 10000 jobs need 10000/),
    'good quota: 10000 vCPUs of Fargate Spot',
  ]);
  expect(large.slice(0, 7).map((line) => line.split(' ')[0])).toEqual(Array(7).fill('good'));
  expect(large.slice(7)).toEqual([
    expect.stringMatching(/^note table: 7500 write units a second, but a new table takes 4000/),
    expect.stringMatching(/^note AWS Batch takes 50 submissions a second, .*: 10000 jobs take 200 s$/),
  ]);
});

test('what ten thousand jobs need is told to somebody without an account, too', async () => {
  const told = await checkForJobs(undefined, readOptions({}), { jobs: 10_000, concurrency: undefined });

  expect(told.slice(0, 3).map(({ what }) => what)).toEqual([
    'quota: 10000 jobs need 10000 vCPUs of Fargate (L-3032A538)',
    'quota: 10000 jobs need 10000 network interfaces (L-DF5E4CA3)',
    'quota: 200 concurrent functions are needed (Lambda, L-B99A9384)',
  ]);
});
