import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { endpoint as downloadPruned } from '../../../functions/optimization/compressions/prune/download-pruned-model.endpoint.ts';
import { endpoint as listPrunings } from '../../../functions/optimization/compressions/prune/list-prune-strategies.endpoint.ts';
import { endpoint as readPruning } from '../../../functions/optimization/compressions/prune/read-prune-strategy.endpoint.ts';
import { endpoint as listQuantizations } from '../../../functions/optimization/compressions/quantize/list-quantize-strategies.endpoint.ts';
import { endpoint as readModel } from '../../../functions/optimization/models/read-model.endpoint.ts';
import { batchControl } from '../../../shared/aws/batch.ts';
import { batch } from '../../../shared/aws/batch-client.ts';
import { objectReader } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { testBucket } from '../../support/emulators.ts';
import { optimizationService } from '../../support/optimization.ts';
import { everySample } from '../../support/samples.ts';
import { unfinishedOf } from '../../support/unfinished.ts';
import { commandLines } from './command-lines.ts';

const digits = await readFile(join(import.meta.dirname, '../../fixtures/onnx/digits.onnx'));

describe('a strategy', () => {
  test('runs as a job, and leaves its result and its receipt', async () => {
    const service = await optimizationService();
    const { developer: as } = service;
    const asked = await service.prune({ seed: '7' });
    expect(asked.status, asked.text).toBe(200);
    expect(asked.json).toMatchObject({
      model_name: 'digits.onnx',
      strategy: 'structured_l2',
      compression: 2,
      inputs: '1x1x8x8',
      outputs: '1x10',
      exclude: [],
      seed: 7,
      max_error: null,
      result_name: null,
      owner: as.user.username,
      vcpus: 2,
      memory: 4096,
      timeout: 3600,
      created_at: expect.any(String),
      cost_estimate: null,
      cost: null,
      result: [],
    });
    expect(asked.json).not.toHaveProperty('precision');
    const { strategy_id } = asked.json;
    const ended = await service.untilCompression('prune', strategy_id);
    expect(ended, await service.compressionLog('prune', strategy_id)).toMatchObject({
      status: 'SUCCEEDED',
      status_reason: null,
      attempt: 1,
      job_id: expect.any(String),
      progress: { stage: 'done', fraction: 1 },
      registered: null,
      result: [{ name: 'model.onnx', size: digits.length, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
      receipt: { receipt_version: 1, file_bytes: { before: digits.length, after: digits.length } },
    });
    const log = await service.compressionLog('prune', strategy_id);
    expect(log).toContain('Attempt 1: structured_l2 of model digits.onnx.');
    expect(log).toContain('shapes [["image",[1,1,8,8]]]');

    const path = { strategy_id };
    const page = await service.call(readPruning, { path, headers: { Accept: 'image/svg+xml' }, as });
    expect(page.headers['content-type']).toContain('image/svg+xml');
    expect(page.text).toMatch(/^<svg/);
    const found = await service.call(downloadPruned, { path, as });
    expect(found.status).toBe(302);
    const bytes = await fetch(found.headers['location'] ?? '');
    expect(bytes.headers.get('content-disposition')).toContain(`digits-${strategy_id}.onnx`);
    expect(Buffer.from(await bytes.arrayBuffer()).equals(digits)).toBe(true);
    const other = await service.call(downloadPruned, { path, query: { file: '../model.onnx' }, as });
    expect(other.status).toBe(404);

    const { json: prunings } = await service.call(listPrunings, { as });
    expect(prunings).toMatchObject([{ strategy_id, status: 'SUCCEEDED' }]);
    expect(prunings[0]).not.toHaveProperty('receipt');
    expect((await service.call(listQuantizations, { as })).json).toEqual([]);
    expect(await unfinishedOf(service.records)).toEqual([]);
  });

  test('of a quantization has its own fields, and its result becomes a model where it is named', async () => {
    const service = await optimizationService();
    const { developer: as } = service;
    const asked = await service.quantize({
      strategy: 'weight_only',
      precision: '4',
      result_name: 'small.onnx',
    });
    expect(asked.json).toMatchObject({ precision: 4, quant_type: 'int4', leaf_node: false, inputs: null });
    const ended = await service.untilCompression('quantize', asked.json.strategy_id);
    expect(ended, await service.compressionLog('quantize', ended.strategy_id)).toMatchObject({
      status: 'SUCCEEDED',
      registered: true,
    });
    const { json: model } = await service.call(readModel, { path: { model_name: 'small.onnx' }, as });
    expect(model).toMatchObject({
      status: 'ready',
      owner: as.user.username,
      origin: { kind: 'strategy', strategy_id: ended.strategy_id, model_name: 'digits.onnx' },
    });
    const chained = await service.prune({ model_name: 'small.onnx', result_name: 'smaller.onnx' });
    expect(await service.untilCompression('prune', chained.json.strategy_id)).toMatchObject({
      status: 'SUCCEEDED',
      registered: true,
    });
    const again = await service.prune({ result_name: 'small.onnx' });
    expect(again).toMatchObject({ status: 409, json: { detail: expect.stringContaining('small.onnx') } });
  });

  test.runIf(everySample)(
    'says what it may cost at most, and what it did cost once it has ended',
    async () => {
      const prices = { fargate: { base: 0.01, vcpu: 0.04, gib: 0.005 }, nodes: [] };
      const service = await optimizationService({ PRICES: JSON.stringify(prices) });
      const { json } = await service.prune({ timeout: '1800' });
      // Two vCPUs and 4 GiB for half an hour.
      expect(json).toMatchObject({ cost_estimate: 0.055, cost: null });
      const ended = await service.untilCompression('prune', json.strategy_id);
      // A minute is paid for in any case.
      expect(ended).toMatchObject({ status: 'SUCCEEDED', cost_estimate: 0.055, cost: 0.001833 });
      const { json: all } = await service.call(listPrunings, { as: service.developer });
      expect(all).toMatchObject([{ cost_estimate: 0.055, cost: 0.001833 }]);
      const small = await service.quantize({ vcpus: '1', memory: '2048', timeout: '1800' });
      expect(small.json).toMatchObject({ cost_estimate: 0.03, cost: null });
      await service.untilCompression('quantize', small.json.strategy_id);
    },
  );

  test.each([
    ['fault', 'The model has no weights that can be pruned.'],
    ['link', 'The result is refused: model.onnx: it is a link.'],
    ['error', "The service could not continue this job (TypeError). The service's log has the details."],
  ])('that meets a %s fails and says why', async (behaviour, status_reason) => {
    const service = await optimizationService();
    const { json } = await service.prune({ exclude: behaviour });
    const ended = await service.untilCompression('prune', json.strategy_id);
    expect(ended).toMatchObject({ status: 'FAILED', status_reason, result: [], receipt: null });
    const path = { strategy_id: json.strategy_id };
    const page = { path, headers: { Accept: 'image/svg+xml' }, as: service.developer };
    expect((await service.call(readPruning, page)).status).toBe(404);
    expect((await service.call(downloadPruned, { path, as: service.developer })).status).toBe(404);
  });

  test.each([
    ['verbose', 'The receipt is too large to store.'],
    ['half', 'The result is refused: weights.bin: it is a link.'],
  ])(
    'that fails after an upload (%s) leaves no object that nothing names',
    async (behaviour, status_reason) => {
      const service = await optimizationService();
      const { json } = await service.prune({ exclude: behaviour });
      const ended = await service.untilCompression('prune', json.strategy_id);
      expect(ended).toMatchObject({ status: 'FAILED', status_reason, result: [], receipt: null });
      const objects = objectReader(s3(service.environment), testBucket);
      expect((await objects.list(`strategies/${json.strategy_id}/`)).objects).toEqual([]);
    },
  );

  test('for shapes that are not those of the model is refused and names both', async () => {
    const service = await optimizationService();
    const { status, json } = await service.prune({ inputs: '1x3x8x8' });
    expect(status).toBe(400);
    expect(json.errors).toMatchObject([
      { in: 'query', name: 'inputs', message: expect.stringMatching(/1x3x8x8|1, 3, 8, 8/) },
    ]);
    expect(json.detail).toMatch(/\[batch, 1, 8, 8\]/);
  });

  test('leaves no process behind', async () => {
    const service = await optimizationService();
    // The seed is how long the process would sleep, by which it is told from all others.
    const seed = String(100_000_000 + Math.floor(Math.random() * 1_000_000_000));
    const { json } = await service.prune({ exclude: 'leave', seed });
    const ended = await service.untilCompression('prune', json.strategy_id);
    expect(ended, await service.compressionLog('prune', json.strategy_id)).toMatchObject({
      status: 'SUCCEEDED',
    });
    const control = batchControl(batch(service.environment));
    await expect.poll(async () => (await control.describe([ended.job_id]))[0]?.status).toBe('SUCCEEDED');
    expect(await commandLines()).not.toContain(`/bin/sleep ${seed}`);
  });

  test.runIf(everySample)('is ended at its timeout', async () => {
    const service = await optimizationService();
    const { json } = await service.prune({ exclude: 'wait', timeout: '1' });
    expect(await service.untilCompression('prune', json.strategy_id)).toMatchObject({
      status: 'FAILED',
      status_reason: 'The job was stopped at its timeout of 1 s.',
    });
  });
});
