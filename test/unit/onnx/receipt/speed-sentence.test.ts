import { expect, test } from 'vitest';
import { processorText, targetLine, timeLine } from '../../../../shared/onnx/receipt/speed-sentence.ts';

const vnni = { processor: 'P', architecture: 'x64', flags: ['avx2', 'avx512_vnni'], threads: 1 };
const arm = { processor: 'A', architecture: 'arm64', flags: ['asimddp'], threads: 1 };
const latency = (ratio: number, ratio_interval: [number, number]) => ({
  ...{ p50: { before: 2, after: 2 * ratio }, p90: { before: 2, after: 2 }, ratio, ratio_interval },
  ...{ aa_ratio: 1, blocks: 5, runs_per_block: 1, shapes: {} },
});

test('a processor is named with the instruction sets that matter, and those that it lacks', () => {
  expect(processorText(vnni)).toBe('P (x64) with AVX2, AVX-512 VNNI');
  expect(processorText({ ...vnni, flags: ['avx2'] })).toBe('P (x64) with AVX2 without AVX-512 VNNI');
  expect(processorText(arm)).toBe('A (arm64) with Arm dot product without I8MM');
});

test('time is compared with the float model, and what cannot be told apart is said', () => {
  const line = (ratio: number, interval: [number, number]) =>
    timeLine({ latency: latency(ratio, interval), hardware: vnni }, undefined);
  expect(line(0.5, [0.4, 0.6])).toMatch(/^2 times as fast as the float model .* P \(x64\) with AVX2/);
  expect(line(2, [1.9, 2.1])).toMatch(/^SLOWER: 0.5 times as fast/);
  expect(line(1, [0.9, 1.1])).toMatch(/^No measurable difference in speed/);
  expect(timeLine({ latency: null, hardware: vnni }, 'measure is none')).toContain(
    'not measured: measure is none',
  );
});

test('a receipt says what was measured on the processor that it is made for, and what is only expected', () => {
  const line = (target: string, hardware = vnni, reduce_range = false) =>
    targetLine({ request: { for: target, quant_type: 'uint8', reduce_range }, hardware }, true);
  expect(line('any')).toBeUndefined();
  expect(line('avx512-vnni')).toContain('the type of this processor: time and outputs were measured on it');
  expect(line('arm64-dotprod')).toContain('nothing was measured on arm64-dotprod');
  expect(line('avx2', vnni, true)).toContain('expected to be about the same there');
  expect(line('avx2', arm)).toContain('may saturate there');
});
