import { expect, test } from 'vitest';
import { endpoint as trainRemote } from '../../../functions/projects/train-project-remote.endpoint.ts';
import { killTree } from '../../../shared/process/process-tree.ts';
import { trainingService } from '../../support/training.ts';

/** Node 0 waits for ever unless `node0` says otherwise; node 1 does what `node1` says. */
const script = (node0: string, node1: string) =>
  `echo "rank $NODE_RANK"\nif [ "$NODE_RANK" = 0 ]; then ${node0}; else ${node1}; fi\n`;

/** A cluster of two nodes that beat every so many seconds, and what becomes of it. */
async function clusterOf(node0: string, node1: string, seconds = 1) {
  const service = await trainingService({}, { HEARTBEAT_SECONDS: String(seconds) });
  const project_id = await service.project({
    command: 'sh train.sh',
    files: { 'train.sh': script(node0, node1) },
  });
  const { json, text } = await service.call(trainRemote, { path: { project_id }, as: service.developer });
  expect(json.status, text).toBeDefined();
  const { experiment_id } = json;
  const log = (node: number) => service.log(project_id, experiment_id, node);
  return { service, project_id, experiment_id, log, ended: () => service.ended(project_id, experiment_id) };
}

const forEver = 'while :; do sleep 0.1; done';

test('node 0 ends with the reason when another node is killed', async () => {
  const cluster = await clusterOf(forEver, forEver);
  for (const node of [0, 1]) await expect.poll(() => cluster.log(node)).toContain(`rank ${node}`);
  const { service, project_id, experiment_id } = cluster;
  const record = await service.records.get({ pk: `EXPERIMENTS#${project_id}`, sk: experiment_id });
  const marker = { name: 'AWS_BATCH_JOB_ID', value: `${record?.['batch_job_id']}#1` };
  // The supervisor and all that it started, at one blow, as the loss of a host is.
  await killTree({ marker });
  const ended = await cluster.ended();
  expect(ended, await cluster.log(0)).toMatchObject({
    status: 'FAILED',
    status_reason: 'Node 1 was lost: it gave no sign of life for 6 s.',
    attempt: 1,
  });
  expect(await cluster.log(0)).toContain('Node 1 was lost');
});

test('node 0 ends with the reason when the command of another node fails', async () => {
  const cluster = await clusterOf(forEver, 'exit 3', 3);
  const ended = await cluster.ended();
  expect(ended, await cluster.log(0)).toMatchObject({
    status: 'FAILED',
    status_reason: 'Node 1 failed: The command ended with exit code 3.',
  });
});

test('node 0 goes on when another node has ended well', async () => {
  const cluster = await clusterOf('sleep 8', 'true');
  const ended = await cluster.ended();
  expect(ended, await cluster.log(0)).toMatchObject({ status: 'SUCCEEDED', exit_code: 0 });
});

test('node 0 has its own word when it ends at once, too', async () => {
  const cluster = await clusterOf('exit 4', 'exit 3', 3);
  const ended = await cluster.ended();
  expect(ended, await cluster.log(0)).toMatchObject({
    status: 'FAILED',
    status_reason: 'The command ended with exit code 4.',
  });
});
