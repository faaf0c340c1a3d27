import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readStage } from '../../../../../shared/onnx/engine/stage/read-stage.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { savedBytes, smallModel } from '../../../../support/onnx/small-model.ts';

const folder = mkdtempSync(join(tmpdir(), 'read-stage-'));
afterAll(() => rmSync(folder, { recursive: true }));

const request = (operation: string, strategy: string) => ({ operation, strategy, seed: 0 });

test('the owner of a quantized model is told so, once and of that model', () => {
  const model = join(folder, 'model.onnx');
  const weight = makeTensor('w', 'int8', [2, 2], Int8Array.of(1, 2, 3, 4));
  const nodes = [
    makeNode('DequantizeLinear', ['w', 's'], ['d'], { name: 'widen' }),
    makeNode('MatMul', ['x', 'd'], ['y'], { name: 'product' }),
  ];
  const constants = [weight, makeTensor('s', 'float', [], Float32Array.of(0.1))];
  writeFileSync(
    model,
    savedBytes(smallModel({ nodes, constants, inputs: { x: [1, 2] }, outputs: { y: [1, 2] } })),
  );

  const notes = (asked: object) =>
    readStage({ kind: 'read', model, shapes: {}, request: asked } as never).notes;
  expect(notes({ ...request('quantize', 'weight_only'), precision: 8 })).toEqual([
    'The model is already quantized: it has 1 DequantizeLinear. Of those parts only weights that a Cast or DequantizeLinear makes may change.',
  ]);
  expect(notes({ ...request('prune', 'optimize'), compression: 1 })).toEqual([]);
});
