import { expect, test } from 'vitest';
import { containerOptimization } from './container-jobs.ts';

test('a model is pruned and its result quantized in the job image, on its own ONNX Runtime', async () => {
  const service = await containerOptimization();
  const pruning = await service.prune({ result_name: 'half.onnx' });
  expect(pruning.status, pruning.text).toBe(200);
  const pruned = await service.untilCompression('prune', pruning.json.strategy_id);
  expect(pruned, await service.compressionLog('prune', pruning.json.strategy_id)).toMatchObject({
    status: 'SUCCEEDED',
    registered: true,
    receipt: { run_as_whole: true },
  });

  const quantizing = await service.quantize({ model_name: 'half.onnx', result_name: 'half-int8.onnx' });
  expect(quantizing.status, quantizing.text).toBe(200);
  const quantized = await service.untilCompression('quantize', quantizing.json.strategy_id);
  expect(quantized, await service.compressionLog('quantize', quantizing.json.strategy_id)).toMatchObject({
    status: 'SUCCEEDED',
    registered: true,
    receipt: { run_as_whole: true },
  });
});
