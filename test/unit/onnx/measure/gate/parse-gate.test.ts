import { expect, test } from 'vitest';
import { parseGate } from '../../../../../shared/onnx/measure/gate/parse-gate.ts';

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
  expect(parseGate(text)).toEqual({ text, metric, bound });
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
