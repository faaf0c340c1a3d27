import { InferenceSession } from 'onnxruntime-node';
import { expect, test } from 'vitest';
import { runtimeTypes } from '../../../../../shared/onnx/measure/session/feed-type.ts';
import { inferValues } from '../../../../../shared/onnx/model/infer/infer-values.ts';
import { microsoftRules } from '../../../../../shared/onnx/model/infer/microsoft.ts';
import { savedBytes } from '../../../../support/onnx/small-model.ts';
import { cases, modelOf } from './microsoft-operators.ts';

test.each(cases)('$op of $inputs is inferred as ONNX Runtime does', async (one) => {
  const model = modelOf(one);
  const session = await InferenceSession.create(savedBytes(model), {
    graphOptimizationLevel: 'disabled',
    logSeverityLevel: 3,
  });
  const values = inferValues(model);
  const known = session.outputMetadata.map((output) => {
    if (!output.isTensor) throw new Error(`${output.name} is no tensor`);
    const own = values.get(output.name);
    expect(own && runtimeTypes[own.type as keyof typeof runtimeTypes], output.name).toBe(output.type);
    return [own?.dims, output.shape] as const;
  });
  await session.release();
  for (const [own, theirs] of known) {
    if (one.isMore === true && theirs.length === 0) expect(own).toBeDefined();
    else
      expect(own?.map((dim) => (typeof dim === 'string' && dim.startsWith('?') ? '' : dim))).toEqual(theirs);
  }
});

test('every operator that ONNX Runtime fuses to on CPUs is among them', () => {
  const fused =
    'Attention MultiHeadAttention SkipLayerNormalization EmbedLayerNormalization BiasGelu FastGelu FusedMatMul FusedConv';
  expect(fused.split(' ').filter((name) => !microsoftRules.has(name))).toEqual([]);
});
