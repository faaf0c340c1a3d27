import { describe, expect, test } from 'vitest';
import type { LocalJobDefinition } from '../../../infra/local/batch/catalogue.ts';
import { startLocalBatch } from './local-batch.ts';

const base = { command: ['/bin/true'], environment: {}, vcpus: 1, memory: 2048, attempts: 1 } as const;
const jobDefinitions: readonly LocalJobDefinition[] = [
  { ...base, name: 'fargate', type: 'container', platform: 'FARGATE' },
  { ...base, name: 'node', type: 'container', platform: 'EC2' },
  { ...base, name: 'nodes', type: 'multinode', platform: 'EC2', numNodes: 2 },
];
const small = { vcpus: 4, memory: 15_400, gpus: 1 };
const queues = [
  { name: 'fargate', maxJobs: 2, platform: 'FARGATE' },
  { name: 'gpu', maxJobs: 2, platform: 'EC2', instances: [small], misfitSeconds: 1 },
  { name: 'patient', maxJobs: 2, platform: 'EC2', instances: [small] },
] as const;

const start = () => startLocalBatch({ queues, jobDefinitions });

const sized = (vcpus: string, memory: string, gpus?: string) => ({
  resourceRequirements: [
    { type: 'VCPU' as const, value: vcpus },
    { type: 'MEMORY' as const, value: memory },
    ...(gpus === undefined ? [] : [{ type: 'GPU' as const, value: gpus }]),
  ],
});

describe('a submission', () => {
  test.each([
    [
      'to a queue of the other platform',
      'fargate',
      'gpu',
      sized('1', '2048'),
      /platformCapabilities FARGATE/,
    ],
    ['of an EC2 definition to Fargate', 'node', 'fargate', sized('1', '2048'), /platformCapabilities EC2/],
    ['to a queue that is not there', 'node', 'no-gpus', sized('1', '2048'), /no-gpus does not exist/],
    ['of GPUs to Fargate', 'fargate', 'fargate', sized('1', '2048', '1'), /GPU is not supported/],
    [
      'of a size that Fargate has not',
      'fargate',
      'fargate',
      sized('1', '2000'),
      /no size of 1 vCPU and 2000/,
    ],
    ['of half a GPU', 'node', 'gpu', sized('1', '2048', '0.5'), /GPU must be a whole number/],
    ['of half a vCPU of a node', 'node', 'gpu', sized('0.5', '2048'), /VCPU must be a whole number/],
  ])('%s is refused', async (_, jobDefinition, jobQueue, containerOverrides, message) => {
    const { submit } = await start();
    await expect(submit([], { jobDefinition, jobQueue, containerOverrides })).rejects.toMatchObject({
      name: 'ClientException',
      message: expect.stringMatching(message),
    });
  });

  test('that fits runs', async () => {
    const { submit, ended } = await start();
    const node = await submit([], {
      jobDefinition: 'node',
      jobQueue: 'gpu',
      containerOverrides: sized('4', '15400', '1'),
    });
    const container = await submit([], {
      jobDefinition: 'fargate',
      jobQueue: 'fargate',
      containerOverrides: sized('0.25', '512'),
    });
    expect((await ended(node)).platformCapabilities).toEqual(['EC2']);
    expect((await ended(container)).status).toBe('SUCCEEDED');
  });
});

describe('a job that no instance can hold', () => {
  test.each([
    ['GPUs', sized('1', '2048', '2')],
    ['memory', sized('1', '16384', '1')],
    ['vCPUs', sized('8', '2048', '1')],
  ])('for its %s waits with the reason, and is given up', async (_, containerOverrides) => {
    const { submit, ended, until } = await start();
    const patient = await submit([], { jobDefinition: 'node', jobQueue: 'patient', containerOverrides });
    const waiting = await until(patient, ({ status }) => status === 'RUNNABLE');
    expect(waiting.statusReason).toMatch(/^MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT/);
    const id = await submit([], { jobDefinition: 'node', jobQueue: 'gpu', containerOverrides });
    expect(await ended(id)).toMatchObject({
      status: 'FAILED',
      statusReason: expect.stringMatching(/^MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT/),
      attempts: [],
    });
  });

  test('is also one of whose nodes a single one is too large', async () => {
    const { submit, until } = await start();
    const id = await submit([], {
      jobDefinition: 'nodes',
      jobQueue: 'patient',
      nodeOverrides: {
        numNodes: 2,
        nodePropertyOverrides: [{ targetNodes: '1:', containerOverrides: sized('8', '2048') }],
      },
    });
    const { statusReason } = await until(id, ({ status }) => status === 'RUNNABLE');
    expect(statusReason).toMatch(/^MISCONFIGURATION/);
  });
});
