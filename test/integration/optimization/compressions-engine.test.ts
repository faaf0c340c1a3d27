import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoint as readPruning } from '../../../functions/optimization/compressions/prune/read-prune-strategy.endpoint.ts';
import { endpoint as downloadQuantized } from '../../../functions/optimization/compressions/quantize/download-quantized-model.endpoint.ts';
import { endpoint as readModel } from '../../../functions/optimization/models/read-model.endpoint.ts';
import { makeNode } from '../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../support/onnx/seeded.ts';
import { savedBytes, smallModel } from '../../support/onnx/small-model.ts';
import { type OptimizationService, optimizationService, uploadModel } from '../../support/optimization.ts';
import { everySample } from '../../support/samples.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const programs = { prune: 'functions/jobs/prune.job.ts', quantize: 'functions/jobs/quantize.job.ts' };

let service: OptimizationService;
const endings: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  service = await optimizationService({}, {}, programs, (end) => endings.push(end));
});
afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

describe('with the real engine', () => {
  test('a model is pruned, and its receipt has a page', async () => {
    const { json } = await service.prune({ strategy: 'magnitude_global' });
    const { strategy_id } = json;
    const ended = await service.untilCompression('prune', strategy_id);
    expect(ended, await service.compressionLog('prune', strategy_id)).toMatchObject({
      status: 'SUCCEEDED',
      result: [{ name: 'model.onnx' }],
      receipt: { strategy: 'magnitude_global', run_as_whole: true },
    });
    expect(ended.receipt.nonzero_parameters.after).toBeLessThan(ended.receipt.nonzero_parameters.before);
    const headers = { Accept: 'image/svg+xml' };
    const page = await service.call(readPruning, { path: { strategy_id }, headers, as: service.developer });
    expect(page.text).toMatch(/^<svg/);
  });

  test.runIf(everySample)(
    'a pruning that leaves the shapes to the model takes those that were registered with it',
    async () => {
      const { json, status, text } = await service.prune({ inputs: 'auto', outputs: 'auto' });
      expect([status, text]).toEqual([200, text]);
      expect(json).toMatchObject({ inputs: null, outputs: null });
      const ended = await service.untilCompression('prune', json.strategy_id);
      expect(ended, await service.compressionLog('prune', json.strategy_id)).toMatchObject({
        status: 'SUCCEEDED',
        inputs: null,
        outputs: null,
      });
    },
  );

  test.runIf(everySample)('a structured pruning is quantized by its name', async () => {
    const { json: pruned } = await service.prune({ result_name: 'half.onnx' });
    const first = await service.untilCompression('prune', pruned.strategy_id);
    expect(first, await service.compressionLog('prune', pruned.strategy_id)).toMatchObject({
      status: 'SUCCEEDED',
      registered: true,
    });
    const query = { model_name: 'half.onnx', strategy: 'dynamic', result_name: 'half-int8.onnx' };
    const { json: quantized } = await service.quantize(query);
    const second = await service.untilCompression('quantize', quantized.strategy_id);
    expect(second, await service.compressionLog('quantize', quantized.strategy_id)).toMatchObject({
      status: 'SUCCEEDED',
      registered: true,
    });
    const path = { model_name: 'half-int8.onnx' };
    const { json: model } = await service.call(readModel, { path, as: service.developer });
    expect(model.inspection.operators).toHaveProperty('DynamicQuantizeLinear');
    const found = await service.call(downloadQuantized, {
      path: { strategy_id: quantized.strategy_id },
      as: service.developer,
    });
    const downloaded = await fetch(found.headers['location'] ?? '');
    expect(Number(downloaded.headers.get('content-length'))).toBe(second.result[0].size);
  });

  test('a compression out of reach fails and names the largest', async () => {
    const { json } = await service.prune({ strategy: 'magnitude_global', compression: '100000' });
    expect(await service.untilCompression('prune', json.strategy_id)).toMatchObject({
      status: 'FAILED',
      status_reason: expect.stringMatching(/\d/),
    });
  });

  test.runIf(everySample)(
    'a model that ONNX Runtime does not run fails the job with the reason',
    async () => {
      const model = savedBytes(
        smallModel({
          nodes: [makeNode('MatMul', ['x', 'w'], ['m']), makeNode('Nonsense', ['m'], ['y'])],
          constants: [makeTensor('w', 'float', [4, 4], seededFloats(seededRandom(1), 16))],
          inputs: { x: [1, 4] },
          outputs: { y: [1, 4] },
        }),
      );
      await uploadModel(service, service.developer, 'nonsense.onnx', { model });
      const { json } = await service.quantize({ model_name: 'nonsense.onnx' });
      expect(await service.untilCompression('quantize', json.strategy_id)).toMatchObject({
        status: 'FAILED',
        status_reason: expect.stringContaining('Nonsense'),
      });
    },
  );
});
