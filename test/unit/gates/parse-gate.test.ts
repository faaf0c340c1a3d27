import { expect, test } from 'vitest';
import { parseGate } from '../../../shared/gates/parse-gate.ts';

test.each([
  ['accuracy >= base - 0.5%', 'accuracy', { kind: 'offset', value: -0.005 }],
  ['accuracy>=base', 'accuracy', { kind: 'offset', value: 0 }],
  ['accuracy >= base + 0.01', 'accuracy', { kind: 'offset', value: 0.01 }],
  ['accuracy >= 95%', 'accuracy', { kind: 'value', value: 0.95 }],
  ['agreement >= 0.99', 'agreement', { kind: 'value', value: 0.99 }],
  ['error <= 0.05', 'error', { kind: 'value', value: 0.05 }],
  ['bytes <= 12MB', 'bytes', { kind: 'value', value: 12e6 }],
  ['bytes <= 1.5 MiB', 'bytes', { kind: 'value', value: 1.5 * 2 ** 20 }],
  ['bytes <= 920', 'bytes', { kind: 'value', value: 920 }],
  ['bytes <= 0.5x', 'bytes', { kind: 'factor', value: 0.5 }],
  ['latency <= 0.8x', 'latency', { kind: 'factor', value: 0.8 }],
  ['latency <= base', 'latency', { kind: 'factor', value: 1 }],
  ['  latency  <=  20ms ', 'latency', { kind: 'value', value: 20 }],
])('%s', (text, metric, bound) => {
  expect(parseGate(text)).toMatchObject({ text, metric, name: metric, bound });
});

test.each([
  ['', 'character 1 the text ends, where one of accuracy, agreement, error, bytes, latency is allowed'],
  ['speed >= 2x', 'character 1 there is "speed >= 2x", where one of accuracy'],
  ['accuracy <= 0.9', 'character 10 there is "<= 0.9", where >='],
  ['latency < 0.8x', 'character 9 there is "< 0.8x", where <='],
  ['accuracy >= bases', 'character 13 there is "bases", where "base", "base - 0.5%", or a share'],
  ['accuracy >= base -', 'character 19 the text ends, where a share such as 0.5%'],
  ['accuracy >= 95', '95 is above 1'],
  ['bytes <= 12Mb', 'character 12 there is "Mb", where x or a unit of B, KB, MB, GB, KiB, MiB, GiB'],
  ['latency <= 20', 'character 14 the text ends, where x or a unit of us, ms, s'],
  ['latency <= 0.8x now', 'character 17 there is "now", where nothing more is allowed'],
  ['latency <= 1e3ms', 'character 13 there is "e3ms"'],
])('%j is refused with the place and what is allowed there', (text, message) => {
  expect(() => parseGate(text)).toThrow(message);
});

test.each([
  ['val_loss <= base * 1.02', 'val_loss', '<=', { kind: 'factor', value: 1.02 }],
  ['accuracy >= base - 0.5%', 'accuracy', '>=', { kind: 'offset', value: -0.005 }],
  ['accuracy >= 93.5', 'accuracy', '>=', { kind: 'value', value: 93.5 }],
  ['val/f1@5<=1.1x', 'val/f1@5', '<=', { kind: 'factor', value: 1.1 }],
  ['"val loss" <= -1.5e-3', 'val loss', '<=', { kind: 'value', value: -0.0015 }],
  ['error <= 5%', 'error', '<=', { kind: 'value', value: 0.05 }],
  ['bytes_read <= base', 'bytes_read', '<=', { kind: 'offset', value: 0 }],
])('a metric of trainings: %s', (text, name, sign, bound) => {
  expect(parseGate(text, 'runs')).toEqual({ text, metric: 'metric', name, sign, bound });
});

test('cost, bytes and latency of trainings have a grammar of their own', () => {
  expect(parseGate('cost <= 2', 'runs')).toMatchObject({
    metric: 'cost',
    bound: { kind: 'value', value: 2 },
  });
  expect(parseGate('bytes <= 12MB', 'runs')).toMatchObject({ metric: 'bytes' });
  expect(() => parseGate('cost >= 2', 'runs')).toThrow('where <= (the only one for cost)');
  expect(() => parseGate('loss < 2', 'runs')).toThrow('where >= or <= is allowed');
  expect(() => parseGate('val loss <= 2', 'runs')).toThrow('a name with spaces in double quotes');
  // Every value would pass.
  expect(() => parseGate('loss <= 1e999', 'runs')).toThrow('1e999 is too large a number');
  expect(() => parseGate(`loss <= base * ${'9'.repeat(400)}`, 'runs')).toThrow('is too large a number');
  expect(() => parseGate('loss <= bases', 'runs')).toThrow('"base * 1.02"');
  expect(() => parseGate('<= 2', 'runs')).toThrow('the name of a metric');
});
