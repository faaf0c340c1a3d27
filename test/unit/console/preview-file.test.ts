import { expect, test } from 'vitest';
import { byName, previewFile } from '../../../functions/console/app/preview/preview-file.ts';

const files = (...all: readonly (string | [string, number])[]) =>
  all.map((one) => {
    const [path, size] = typeof one === 'string' ? [one, 100] : one;
    return { path, size, media_type: 'application/octet-stream' };
  });

test.each([
  ['a report', ['weights.bin', 'notes.md', 'report.html', 'curve.png'], 'report.html'],
  ['the last picture of a series', ['out/epoch_9.png', 'out/epoch_10.png', 'data.json'], 'out/epoch_10.png'],
  ['the topmost of equals', ['a/metrics.json', 'metrics.json'], 'metrics.json'],
  ['a model that can be registered, if nothing can be read', ['a.npz', 'model.onnx'], 'model.onnx'],
  ['the only file, whatever it is', ['weights.bin'], 'weights.bin'],
] as const)('opens %s', (_, paths, chosen) => {
  expect(previewFile(files(...paths))).toBe(chosen);
});

test('opens nothing among files that have no preview, are empty or are large', () => {
  expect(previewFile(files('a.bin', 'b.npz', ['huge.csv', 50_000_000], ['empty.txt', 0]))).toBeUndefined();
});

test('orders numbers in names by their value', () => {
  expect(['epoch_10', 'epoch_2', 'epoch_1'].sort(byName)).toEqual(['epoch_1', 'epoch_2', 'epoch_10']);
});
