import { describe, expect, test } from 'vitest';
import {
  matchShapes,
  parseShapes,
  type ShapedTensor,
} from '../../../../../shared/onnx/model/inspect/match-shapes.ts';

const image: ShapedTensor = { name: 'image', shape: ['batch', 3, 8, 8] };
const ids: ShapedTensor = { name: 'ids', shape: ['batch', null] };
const scale: ShapedTensor = { name: 'scale', shape: [2] };
const open: ShapedTensor = { name: 'open', shape: null };

const match = (text: string, ...tensors: ShapedTensor[]) => matchShapes(parseShapes(text), tensors);

describe('shapes go to tensors', () => {
  test.each<[string, ShapedTensor[], (number | null)[][]]>([
    ['1x3x8x8', [image], [[1, 3, 8, 8]]],
    ['1,3,8,8', [image], [[1, 3, 8, 8]]],
    ['?,?,?,?', [image], [[null, 3, 8, 8]]],
    ['2', [scale], [[2]]],
    [
      '[4,3,8,8],[4,16]',
      [image, ids],
      [
        [4, 3, 8, 8],
        [4, 16],
      ],
    ],
    [
      'ids:4x16;image:4x3x8x8',
      [image, ids],
      [
        [4, 3, 8, 8],
        [4, 16],
      ],
    ],
    [
      'ids:4x16;4x3x8x8',
      [image, ids],
      [
        [4, 3, 8, 8],
        [4, 16],
      ],
    ],
    ['2,5', [scale, open], [[2], [5]]],
    ['[]', [open], [[]]],
    ['', [], []],
  ])('%s', (text, tensors, dims) => {
    expect(match(text, ...tensors)).toEqual({
      ok: true,
      shapes: tensors.map(({ name }, index) => ({ name, dims: dims[index] })),
    });
  });

  test.each<[string, ShapedTensor[], string]>([
    ['1x1x28x28', [image], '"image" is [batch, 3, 8, 8] in the model, but [1, 1, 28, 28] was requested'],
    ['1x3x8', [image], '"image" is [batch, 3, 8, 8] in the model, but [1, 3, 8] was requested'],
    ['[]', [scale], '"scale" is [2] in the model, but [] was requested'],
    ['4x3x8x8,5x16', [image, ids], 'but [5, 16] was requested, where batch was 4 before'],
    [
      '1,2,3',
      [scale, open],
      '[1], [2], [3] was requested, but the model has "scale" [2], "open" of any rank: 3 shapes for 2',
    ],
    ['1x3x8x8', [image, ids], '1 shape for 2'],
    ['1x2', [], '[1, 2] was requested, but the model has none: 1 shape for 0'],
    ['', [image], 'none was requested, but the model has "image" [batch, 3, 8, 8]'],
    ['photo:1x3x8x8', [image], '"photo" is not one of "image"'],
    ['scale:2,scale:2', [scale, open], '"scale" has two requested shapes'],
  ])('%j for %o is refused', (text, tensors, fault) => {
    const matched = match(text, ...tensors);
    expect(matched.ok ? '' : matched.fault).toContain(fault);
  });

  test('what was written of a model always fits it', () => {
    let seed = 3;
    const random = (below: number) => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    for (let round = 0; round < 300; round += 1) {
      const sizes = [1 + random(9), 1 + random(9)];
      const truth = Array.from({ length: 1 + random(4) }, () =>
        Array.from({ length: random(5) }, () => ({ symbol: random(3), own: 1 + random(50) })),
      );
      const concrete = truth.map((dims) => dims.map(({ symbol, own }) => sizes[symbol] ?? own));
      const tensors = truth.map((dims, index) => ({
        name: `t${index}`,
        shape: dims.map(({ symbol, own }) => (symbol < 2 ? `s${symbol}` : random(5) === 0 ? null : own)),
      }));
      const order = [...tensors.keys()].sort(() => random(3) - 1);
      const text = order.map((index) => `t${index}:[${concrete[index]!.join(',')}]`).join(';');
      expect(match(text, ...tensors), text).toEqual({
        ok: true,
        shapes: tensors.map(({ name }, index) => ({ name, dims: concrete[index] })),
      });
    }
  });
});
