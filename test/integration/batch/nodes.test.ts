import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DescribeJobsCommand, ListJobsCommand, TerminateJobCommand } from '@aws-sdk/client-batch';
import { describe, expect, test } from 'vitest';
import { everySample } from '../../support/samples.ts';
import { eventually, type LocalBatch, sh, startLocalBatch } from './local-batch.ts';

function submitNodes(batch: LocalBatch, numNodes: number, script: string, attempts = 1): Promise<string> {
  return batch.submit([], {
    jobDefinition: 'nodes',
    retryStrategy: { attempts },
    nodeOverrides: {
      numNodes,
      nodePropertyOverrides: [{ targetNodes: '0:', containerOverrides: { command: sh(script) } }],
    },
  });
}

async function nodesOf({ client }: LocalBatch, id: string, count: number) {
  const ids = Array.from({ length: count }, (_, index) => `${id}#${index}`);
  return (await client.send(new DescribeJobsCommand({ jobs: ids }))).jobs!;
}

describe('a multi-node job', () => {
  test('runs its nodes with the variables of Batch', async () => {
    const batch = await startLocalBatch();
    const gate = join(batch.folder, 'gate');
    const id = await submitNodes(
      batch,
      3,
      `cd ${batch.folder} && env | grep AWS_BATCH_JOB > new.$AWS_BATCH_JOB_NODE_INDEX &&
        mv new.$AWS_BATCH_JOB_NODE_INDEX node.$AWS_BATCH_JOB_NODE_INDEX
      while [ ! -e ${gate} ]; do sleep 0.02; done`,
    );
    await eventually(
      async () => (await readdir(batch.folder)).filter((name) => name.startsWith('node.')).length === 3,
    );
    await batch.until(`${id}#2`, ({ status }) => status === 'RUNNING');
    await batch.until(`${id}#1`, ({ status }) => status === 'RUNNING');
    const list = new ListJobsCommand({ multiNodeJobId: id });
    const { jobSummaryList: running = [] } = await batch.client.send(list);
    expect(running.map(({ jobId, nodeProperties }) => [jobId, nodeProperties])).toEqual([
      [`${id}#0`, { isMainNode: true, nodeIndex: 0 }],
      [`${id}#1`, { isMainNode: false, nodeIndex: 1 }],
      [`${id}#2`, { isMainNode: false, nodeIndex: 2 }],
    ]);
    await writeFile(gate, '');
    const job = await batch.ended(id);
    expect(job).toMatchObject({ status: 'SUCCEEDED', nodeProperties: { numNodes: 3, mainNode: 0 } });
    expect(job.container).toBeUndefined();
    for (const index of [0, 1, 2]) {
      const lines = (await readFile(join(batch.folder, `node.${index}`), 'utf8')).trim().split('\n').sort();
      expect(lines).toEqual([
        'AWS_BATCH_JOB_ATTEMPT=1',
        `AWS_BATCH_JOB_ID=${id}#${index}`,
        'AWS_BATCH_JOB_MAIN_NODE_INDEX=0',
        ...(index === 0 ? [] : ['AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS=127.0.0.1']),
        `AWS_BATCH_JOB_NODE_INDEX=${index}`,
        'AWS_BATCH_JOB_NUM_NODES=3',
      ]);
    }
  });

  test('ends as its main node ends; the others are stopped, or keep how they ended', async () => {
    const batch = await startLocalBatch();
    const ready = join(batch.folder, 'ready');
    const id = await submitNodes(
      batch,
      3,
      `case $AWS_BATCH_JOB_NODE_INDEX in
        0) while [ ! -e ${ready} ]; do sleep 0.02; done; exit 0;;
        1) exit 7;;
        2) while :; do sleep 0.02; done;;
      esac`,
    );
    const failedChild = await batch.until(`${id}#1`, ({ status }) => status === 'FAILED');
    expect(failedChild).toMatchObject({
      container: { exitCode: 7 },
      nodeDetails: { nodeIndex: 1, isMainNode: false },
    });
    expect((await batch.describe(id)).status).toBe('RUNNING');
    await batch.until(`${id}#2`, ({ status }) => status === 'RUNNING');
    await writeFile(ready, '');
    const job = await batch.ended(id);
    expect(job).toMatchObject({ status: 'SUCCEEDED', attempts: [{ container: { exitCode: 0 } }] });
    const nodes = await nodesOf(batch, id, 3);
    expect(nodes.map(({ status, container }) => [status, container?.exitCode])).toEqual([
      ['SUCCEEDED', 0],
      ['FAILED', 7],
      ['FAILED', 143],
    ]);
  });

  test.runIf(everySample)('is tried again, all nodes of it, when its main node fails', async () => {
    const batch = await startLocalBatch();
    const mark = join(batch.folder, 'mark');
    const id = await submitNodes(
      batch,
      2,
      `touch ${mark}.$AWS_BATCH_JOB_ATTEMPT.$AWS_BATCH_JOB_NODE_INDEX
      while [ ! -e ${mark}.$AWS_BATCH_JOB_ATTEMPT.1 ]; do sleep 0.02; done
      exit $((2 - $AWS_BATCH_JOB_ATTEMPT))`,
      2,
    );
    const job = await batch.ended(id);
    expect(job.status).toBe('SUCCEEDED');
    expect(job.attempts?.map(({ container }) => container?.exitCode)).toEqual([1, 0]);
    expect((await nodesOf(batch, id, 2)).map(({ attempts }) => attempts?.length)).toEqual([2, 2]);
  });

  test('TerminateJob reaches every node', async () => {
    const batch = await startLocalBatch();
    const id = await submitNodes(batch, 2, 'while :; do sleep 0.02; done');
    await batch.until(`${id}#1`, ({ status }) => status === 'RUNNING');
    await batch.client.send(new TerminateJobCommand({ jobId: id, reason: 'stop all' }));
    expect(await batch.ended(id)).toMatchObject({ status: 'FAILED', statusReason: 'stop all' });
    const nodes = await nodesOf(batch, id, 2);
    expect(nodes.map(({ container }) => container?.exitCode)).toEqual([143, 143]);
  });
});
