import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { endpoint as trainRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import { findLease } from '../../../shared/data/jobs/lease.ts';
import { killTree } from '../../../shared/process/process-tree.ts';
import { everySample } from '../../support/samples.ts';
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
  const { service, project_id, experiment_id } = cluster;
  // On a starving machine a node that gets no turn for six beats is lost before it is killed.
  const isOver = async () => (await findLease(service.records, experiment_id, 0))?.end !== undefined;
  for (const node of [0, 1]) {
    const runs = async () => (await cluster.log(node)).includes(`rank ${node}`);
    await expect.poll(async () => (await runs()) || (await isOver())).toBe(true);
  }
  const record = await service.records.get({ pk: `EXPERIMENTS#${project_id}`, sk: experiment_id });
  const marker = { name: 'AWS_BATCH_JOB_ID', value: `${record?.['batch_job_id']}#1` };
  // The supervisor and all that it started, at one blow, as the loss of a host is.
  await killTree({ marker });
  const ended = await cluster.ended();
  expect(ended, await cluster.log(0)).toMatchObject({
    status: 'FAILED',
    status_reason: 'Node 1 was lost: no heartbeat for 6 s.',
    attempt: 1,
  });
  expect(await cluster.log(0)).toContain('Node 1 was lost');
});

test.runIf(everySample)('node 0 ends with the reason when the command of another node fails', async () => {
  const cluster = await clusterOf(forEver, 'exit 3', 5);
  const ended = await cluster.ended();
  expect(ended, await cluster.log(0)).toMatchObject({
    status: 'FAILED',
    status_reason: 'Node 1 failed: The command ended with exit code 3.',
  });
});

test.runIf(everySample)('node 0 goes on when another node has ended well', async () => {
  // Node 0 waits for the end of a connection.
  const gate = createServer().listen(0, '127.0.0.1');
  await once(gate, 'listening');
  onTestFinished(() => void gate.close());
  const waiting = once(gate, 'connection');
  const { port } = gate.address() as AddressInfo;
  const wait = `python3 -c "import socket; socket.create_connection(('127.0.0.1', ${port})).recv(1)"`;
  const cluster = await clusterOf(wait, 'true', 5);
  const [socket] = await waiting;
  const lease = async (node: number) => findLease(cluster.service.records, cluster.experiment_id, node);
  await expect.poll(async () => (await lease(1))?.end).toEqual({ failure: null });
  // It looks at the others as often as it beats, and reports what is wrong at its second look.
  const beats = new Set<string | undefined>();
  await expect.poll(async () => beats.add((await lease(0))?.heartbeat_at).size).toBeGreaterThan(3);
  socket.end();
  const ended = await cluster.ended();
  expect(ended, await cluster.log(0)).toMatchObject({ status: 'SUCCEEDED', exit_code: 0 });
});

test.runIf(everySample)('node 0 has its own word when it ends at once, too', async () => {
  // The second look comes when node 0 has long had its turn.
  const cluster = await clusterOf('exit 4', 'exit 3', 15);
  const ended = await cluster.ended();
  expect(ended, await cluster.log(0)).toMatchObject({
    status: 'FAILED',
    status_reason: 'The command ended with exit code 4.',
  });
});
