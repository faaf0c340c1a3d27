import { describe, expect, test } from 'vitest';
import { event as jobStateChanged } from '../../../functions/events/job-state-changed.event.ts';
import { event as purge } from '../../../functions/events/purge.event.ts';
import { endpoint as cancelPruning } from '../../../functions/optimization/compressions/prune/cancel-prune-strategy.endpoint.ts';
import { endpoint as deletePruning } from '../../../functions/optimization/compressions/prune/delete-prune-strategy.endpoint.ts';
import { endpoint as readPruning } from '../../../functions/optimization/compressions/prune/read-prune-strategy.endpoint.ts';
import { endpoint as readQuantization } from '../../../functions/optimization/compressions/quantize/read-quantize-strategy.endpoint.ts';
import { endpoint as deleteModel } from '../../../functions/optimization/models/delete-model.endpoint.ts';
import { batchControl } from '../../../shared/aws/batch.ts';
import { batch } from '../../../shared/aws/batch-client.ts';
import { objectReader } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { compressionKey } from '../../../shared/data/models/compression.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { reconcileAll } from '../../../shared/jobs/reconciliation.ts';
import { findProcesses } from '../../../shared/process/process-tree.ts';
import { testBucket } from '../../support/emulators.ts';
import { type OptimizationService, optimizationService } from '../../support/optimization.ts';
import { everySample } from '../../support/samples.ts';
import { heldVcpus, unfinishedOf } from '../../support/unfinished.ts';
import { commandLines } from './command-lines.ts';

const away = (service: OptimizationService) => ({
  ...service.environment,
  BATCH_ENDPOINT: 'http://127.0.0.1:9',
});

/** Reconciles as if so many seconds had passed. */
const reconcileAfter = (service: OptimizationService, seconds: number) =>
  reconcileAll({
    records: service.records,
    batch: batchControl(batch(service.environment)),
    settings: readSettings(service.environment),
    now: () => new Date(Date.now() + seconds * 1000),
  });

const recordOf = (service: OptimizationService, strategy_id: string) =>
  service.records.get(compressionKey('prune', strategy_id));

async function limitsOf(service: OptimizationService) {
  const { items } = await service.records.query({ pk: 'LIMITS' });
  return {
    unfinished: items.map(({ unfinished }) => unfinished),
    vcpus: await heldVcpus(service.records),
  };
}

const waiting = async (service: OptimizationService): Promise<string> => {
  const { json } = await service.prune({ exclude: 'wait' });
  while (!(await service.compressionLog('prune', json.strategy_id)).includes('waiting'))
    await service.untilCompression('prune', json.strategy_id, () => true);
  return json.strategy_id;
};

describe('cancelling a strategy', () => {
  test('that has not been handed to Batch ends it at once', async () => {
    const service = await optimizationService();
    const { json } = await service.prune({}, service.developer, away(service));
    expect(json.status).toBe('CREATED');
    const path = { strategy_id: json.strategy_id };
    const cancelled = await service.call(cancelPruning, { path, as: service.developer });
    expect(cancelled.json).toMatchObject({
      status: 'CANCELLED',
      status_reason: `Cancelled by ${service.developer.user.username} before it started.`,
    });
    await reconcileAfter(service, 60);
    expect(await service.read('prune', json.strategy_id)).toMatchObject({ status: 'CANCELLED', attempt: 0 });
    expect(await limitsOf(service)).toEqual({ unfinished: [0], vcpus: 0 });
  });

  test.runIf(everySample)('that waits for its turn keeps it from ever running', async () => {
    const service = await optimizationService({}, { queues: [{ name: 'train', maxJobs: 1 }] });
    const first = await waiting(service);
    const { json } = await service.prune();
    const path = { strategy_id: json.strategy_id };
    expect((await service.call(cancelPruning, { path, as: service.developer })).status).toBe(200);
    await service.call(cancelPruning, { path: { strategy_id: first }, as: service.developer });
    expect(await service.untilCompression('prune', first)).toMatchObject({ status: 'CANCELLED' });
    expect(await service.untilCompression('prune', json.strategy_id)).toMatchObject({
      status: 'CANCELLED',
      attempt: 0,
    });
  });

  test('that runs stops it, and again changes nothing', async () => {
    const service = await optimizationService();
    const strategy_id = await waiting(service);
    const path = { strategy_id };
    const running = await service.untilCompression('prune', strategy_id, ({ progress }) => progress !== null);
    expect(running).toMatchObject({ status: 'RUNNING', progress: { stage: expect.any(String) } });
    expect((await service.call(deletePruning, { path, as: service.developer })).status).toBe(409);
    expect((await service.call(cancelPruning, { path, as: service.developer })).status).toBe(200);
    expect(await service.untilCompression('prune', strategy_id)).toMatchObject({
      status: 'CANCELLED',
      status_reason: `Cancelled by ${service.developer.user.username}.`,
      result: [],
      receipt: null,
    });
    const again = await service.call(cancelPruning, { path, as: service.developer });
    expect(again).toMatchObject({ status: 200, json: { status: 'CANCELLED' } });
    expect(await unfinishedOf(service.records)).toEqual([]);
  });

  test('that has ended otherwise is a conflict', async () => {
    const service = await optimizationService();
    const { json } = await service.prune();
    await service.untilCompression('prune', json.strategy_id);
    const path = { strategy_id: json.strategy_id };
    expect((await service.call(cancelPruning, { path, as: service.developer })).status).toBe(409);
  });
});

describe('the life of a strategy', () => {
  test.runIf(everySample)('goes on though Batch was away when it was asked for', async () => {
    const service = await optimizationService();
    const { json } = await service.prune({ exclude: 'slow' }, service.developer, away(service));
    await Promise.all([reconcileAfter(service, 60), reconcileAfter(service, 60)]);
    expect(await service.untilCompression('prune', json.strategy_id)).toMatchObject({
      status: 'SUCCEEDED',
      attempt: 1,
    });
    expect((await service.compressionLog('prune', json.strategy_id)).match(/^ran$/gm)).toHaveLength(1);
  });

  test.runIf(everySample)('is that of one container, however often it was submitted', async () => {
    const service = await optimizationService();
    const { json } = await service.prune({ exclude: 'slow' });
    const control = batchControl(batch(service.environment));
    const again = await control.submit({
      name: `prune-${json.strategy_id}`,
      queue: 'train',
      definition: 'prune',
      environment: { STRATEGY_ID: json.strategy_id },
      vcpus: 1,
      memory: 2048,
      gpus: 0,
      timeout: 600,
    });
    expect(await service.untilCompression('prune', json.strategy_id)).toMatchObject({ attempt: 1 });
    await expect.poll(async () => (await control.describe([again]))[0]?.status).toBe('SUCCEEDED');
    expect((await service.compressionLog('prune', json.strategy_id)).match(/^ran$/gm)).toHaveLength(1);
  });

  test.runIf(everySample)('takes nothing from a container that has lost its lease', async () => {
    const service = await optimizationService();
    const { json } = await service.prune({ exclude: 'slow' });
    const { strategy_id } = json;
    const lease = { pk: `JOB#${strategy_id}`, sk: 'LEASE#00' };
    await expect.poll(() => service.records.get(lease)).toBeDefined();
    // By a container of another submission: a later attempt of this one would take it over.
    const taken = { holder: 'another', number: 2, batch_job_id: 'another' };
    await service.records.write({ update: lease, change: { set: taken } });
    const record = await recordOf(service, strategy_id);
    const control = batchControl(batch(service.environment));
    await expect
      .poll(async () => (await control.describe([String(record?.['batch_job_id'])]))[0]?.status)
      .toMatch(/SUCCEEDED|FAILED/);
    expect((await recordOf(service, strategy_id))?.['result']).toEqual([]);
    expect((await service.records.query({ pk: `JOB#${strategy_id}`, prefix: 'RECEIPT' })).items).toEqual([]);
  });

  test('ends with its container where that is killed, and so does what it was doing', async () => {
    const service = await optimizationService();
    // The seed makes the time that the process would sleep its name.
    const seed = 100_000_000 + Math.floor(Math.random() * 1_000_000_000);
    const sleeping = `/bin/sleep ${seed + 600}`;
    const { json } = await service.prune({ exclude: 'wait', seed: String(seed) });
    await expect.poll(commandLines).toContain(sleeping);
    const { job_id } = await service.read('prune', json.strategy_id);
    const marker = { name: 'AWS_BATCH_JOB_ID', value: job_id };
    const found = await findProcesses({ marker });
    const parents = found.filter(({ pid }) => found.some(({ ppid }) => ppid === pid));
    expect(parents, JSON.stringify(found)).toHaveLength(1);
    process.kill(parents[0]!.pid, 'SIGKILL');
    expect(await service.untilCompression('prune', json.strategy_id)).toMatchObject({
      status: 'FAILED',
      status_reason: expect.stringContaining('killed'),
    });
    await expect.poll(commandLines).not.toContain(sleeping);
  });

  test.runIf(everySample)('ends as Batch says where its container could not', async () => {
    const service = await optimizationService({}, { deliver: async () => undefined });
    const strategy_id = await waiting(service);
    const record = await recordOf(service, strategy_id);
    const handler = taskHandler(jobStateChanged, service.environment);
    const detail = {
      jobId: record?.['batch_job_id'],
      jobName: `prune-${strategy_id}`,
      status: 'FAILED',
      container: { exitCode: 137 },
    };
    await handler({ detail: { ...detail, jobName: `quantize-${'0'.repeat(26)}` } });
    await handler({ detail });
    expect(await service.read('prune', strategy_id)).toMatchObject({
      status: 'FAILED',
      status_reason: expect.stringContaining('its process was killed (signal 9).'),
    });
    await handler({ detail: { ...detail, status: 'RUNNING' } });
    expect((await service.read('prune', strategy_id)).status).toBe('FAILED');
  });

  test.runIf(everySample)('fails clearly where its model was deleted meanwhile', async () => {
    const service = await optimizationService();
    const { json } = await service.prune({}, service.developer, away(service));
    const path = { model_name: 'digits.onnx' };
    expect((await service.call(deleteModel, { path, as: service.developer })).status).toBe(200);
    await reconcileAfter(service, 60);
    expect(await service.untilCompression('prune', json.strategy_id)).toMatchObject({
      status: 'FAILED',
      status_reason: expect.stringMatching(/model digits\.onnx .* is no longer stored/),
    });
  });
});

describe('deleting a strategy', () => {
  test('leaves nothing of it, also where it was interrupted, and spares the model made of it', async () => {
    const service = await optimizationService();
    const { developer: as } = service;
    const { json } = await service.prune({ result_name: 'kept.onnx' });
    const { strategy_id } = json;
    await service.untilCompression('prune', strategy_id);
    const path = { strategy_id };
    const stale = await service.call(deletePruning, { path, headers: { 'If-Match': '"1-a"' }, as });
    expect(stale.status).toBe(412);
    const objects = objectReader(s3(service.environment), testBucket);
    expect((await objects.list(`strategies/${strategy_id}/`)).objects).toHaveLength(1);
    const storeAway = { ...service.environment, S3_ENDPOINT: 'http://127.0.0.1:9', LOG_LEVEL: 'error' };
    const deleted = await service.call(deletePruning, { path, as, environment: storeAway });
    expect(deleted).toMatchObject({ status: 200, json: { strategy_id, deleted: { objects: 1 } } });
    expect((await service.call(readPruning, { path, as })).status).toBe(404);
    expect((await service.call(deletePruning, { path, as })).status).toBe(404);
    await taskHandler(purge, service.environment)(undefined);
    expect((await objects.list(`strategies/${strategy_id}/`)).objects).toEqual([]);
    expect((await service.records.query({ pk: `JOB#${strategy_id}` })).items).toEqual([]);
    const again = await service.prune({ model_name: 'kept.onnx' });
    expect(await service.untilCompression('prune', again.json.strategy_id)).toMatchObject({
      status: 'SUCCEEDED',
    });
  });

  test('of one operation does not find those of the other', async () => {
    const service = await optimizationService();
    const { json } = await service.prune({}, service.developer, away(service));
    const path = { strategy_id: json.strategy_id };
    expect((await service.call(readQuantization, { path, as: service.developer })).status).toBe(404);
  });
});
