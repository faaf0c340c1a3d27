import { expect, test } from 'vitest';
import { isExcluded, makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';

const named = makeNode('Attention', ['x'], ['y'], { name: 'heads', domain: 'com.microsoft' });
const unnamed = makeNode('Conv', ['x'], ['c']);

test.each([
  [named, ['heads'], true],
  [named, ['Attention'], true],
  [named, ['com.microsoft.Attention'], true],
  [named, ['ai.onnx.Attention', 'y', 'head'], false],
  [unnamed, ['c'], true],
  [unnamed, ['Conv'], true],
  [unnamed, ['', 'x'], false],
  [unnamed, [], false],
])('case %#', (node, exclude, is) => {
  expect(isExcluded(node, exclude)).toBe(is);
});
