import { expect, test } from 'vitest';
import { nearestName } from '../../../shared/core/nearest-name.ts';

const names = ['Conv', 'Gemm', '/layer1/conv1/Conv', '/layer1/conv2/Conv', 'MatMul', 'QLinearConv'];

test.each([
  ['conv', 'Conv'],
  ['Matmul', 'MatMul'],
  ['layer1.conv2.Conv', '/layer1/conv2/Conv'],
  ['/layer1/conv1/Cnov', '/layer1/conv1/Conv'],
  ['GEMN', undefined],
  ['Gem', 'Gemm'],
  ['LSTM', undefined],
  ['', undefined],
])('%j means %j', (misspelt, meant) => {
  expect(nearestName(misspelt, names)).toBe(meant);
});

test('the nearest of several is meant', () => {
  expect(nearestName('block_abcd', ['block_abxy', 'block_abc', 'block_ab'])).toBe('block_abc');
});

test('long names and many candidates do not take long', () => {
  const many = Array.from({ length: 100_000 }, (_, at) => `${'x'.repeat(190)}${at}`);
  expect(nearestName('y'.repeat(195), many)).toBeUndefined();
  expect(nearestName('x'.repeat(512), many)).toBeUndefined();
});
