import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { setSamples } from '../../../../../shared/onnx/measure/session/set-samples.ts';
import type { FedInput } from '../../../../../shared/onnx/measure/session/stage-task.ts';
import { writeNpz } from '../../../../support/onnx/write-npz.ts';

const folder = mkdtempSync(join(tmpdir(), 'set-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const input = (name: string, declared: (number | null)[] | null, type = 'float'): FedInput => ({
  name,
  type,
  declared,
  dims: null,
  values: 'normal',
  below: 0,
});

let count = 0;
async function samples(arrays: Parameters<typeof writeNpz>[1], inputs: FedInput[], most = 100) {
  count += 1;
  const path = join(folder, `${count}.npz`);
  await writeNpz(path, arrays);
  const all = [];
  for await (const { feeds, labels } of setSamples(path, inputs, most)) {
    const fed = [...feeds].map(([name, { dims, values }]) => [name, dims, Array.from(values, Number)]);
    all.push({ fed, labels: labels && { dims: labels.dims, numbers: Array.from(labels.numbers) } });
  }
  return all;
}

const rows = { type: 'float', dims: [4, 2], values: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8) } as const;

describe('an array is cut into samples', () => {
  test('without values where the input has none, as the first cache of a language model', async () => {
    const past = { type: 'float', dims: [4, 1, 2, 0, 3], values: new Float32Array() } as const;

    const all = await samples({ x: rows, past }, [input('x', [null, 2]), input('past', [null, 2, null, 3])]);

    expect(all.map(({ fed }) => fed[1])).toEqual(new Array(4).fill(['past', [1, 2, 0, 3], []]));
  });

  test('row by row where it has the rank of the input', async () => {
    const all = await samples({ x: rows }, [input('x', [null, 2])]);
    expect(all.map(({ fed }) => fed)).toEqual([
      [['x', [1, 2], [1, 2]]],
      [['x', [1, 2], [3, 4]]],
      [['x', [1, 2], [5, 6]]],
      [['x', [1, 2], [7, 8]]],
    ]);
  });

  test('several rows at once where the input has a fixed batch', async () => {
    const all = await samples({ x: rows }, [input('x', [2, 2])]);
    expect(all.map(({ fed }) => fed)).toEqual([[['x', [2, 2], [1, 2, 3, 4]]], [['x', [2, 2], [5, 6, 7, 8]]]]);
  });

  test('whole inputs where it has a rank more', async () => {
    const all = await samples({ x: rows }, [input('x', [null])]);
    expect(all).toHaveLength(4);
    expect(all[0]?.fed).toEqual([['x', [2], [1, 2]]]);
  });

  test('under any name where there is but one of each', async () => {
    expect(await samples({ images: rows }, [input('x', [null, 2])], 2)).toHaveLength(2);
  });

  test('with labels, and with whole numbers in the type of the input', async () => {
    const ids = { type: 'int32', dims: [2, 2], values: Int32Array.of(5, 6, 7, 8) } as const;
    const labels = { type: 'int64', dims: [2], values: BigInt64Array.of(1n, 0n) } as const;
    const all = await samples({ ids, labels }, [input('ids', [null, null], 'int64')]);
    expect(all).toEqual([
      { fed: [['ids', [1, 2], [5, 6]]], labels: { dims: [1], numbers: [1] } },
      { fed: [['ids', [1, 2], [7, 8]]], labels: { dims: [1], numbers: [0] } },
    ]);
  });
});

describe('a set that is not what was asked for is refused', () => {
  const asked = async (inputs: Record<string, (number | null)[]>, set = { x: rows }) => {
    const path = join(folder, 'asked.npz');
    await writeNpz(path, set);
    for await (const _ of setSamples(path, [input('x', [null, 2])], 1, { inputs, outputs: {} }))
      return 'read';
    return 'empty';
  };

  test.each([[8, 2], [1_000_000_000, 2], [1, 3], [2]])('[%i, %i]', async (...dims) => {
    await expect(asked({ x: dims })).rejects.toThrow(
      `inputs: "x" is [1, 2] for each sample of the data set, but [${dims.join(', ')}] was requested`,
    );
  });

  test('but what it agrees with, or may choose, is no contradiction', async () => {
    await expect(asked({ x: [1, null] })).resolves.toBe('read');
    await expect(asked({})).resolves.toBe('read');
  });
});

describe('a set that does not fit is refused', () => {
  test('naming both shapes', async () => {
    await expect(samples({ x: rows }, [input('x', [null, 3])])).rejects.toThrow(
      'The array "x" is [4, 2], which does not fit the input "x" [?, 3]; the first axis must be the samples.',
    );
  });

  test('naming the array that is missing', async () => {
    await expect(samples({ a: rows, b: rows }, [input('x', [null, 2])])).rejects.toThrow(
      'The data set has no array for the input "x"; it has "a", "b".',
    );
  });

  test('naming the types', async () => {
    await expect(samples({ x: rows }, [input('x', [null, 2], 'int64')])).rejects.toThrow(
      'The array "x" contains float, but the input "x" requires int64.',
    );
  });

  test('for counts that differ', async () => {
    const fewer = { type: 'float', dims: [3, 2], values: new Float32Array(6) } as const;
    await expect(
      samples({ a: rows, b: fewer }, [input('a', [null, 2]), input('b', [null, 2])]),
    ).rejects.toThrow('The array "a" has 4 samples, but another array has 3.');
  });

  test('for labels that are no classes', async () => {
    const labels = { type: 'float', dims: [4], values: new Float32Array(4) } as const;
    await expect(samples({ x: rows, labels }, [input('x', [null, 2])])).rejects.toThrow(
      'The array "labels" contains float; labels must be integers, the indexes of classes.',
    );
  });

  test('for being empty', async () => {
    const none = { type: 'float', dims: [0, 2], values: new Float32Array() } as const;
    await expect(samples({ x: none }, [input('x', [null, 2])])).rejects.toThrow(
      'The data set has no sample for this model.',
    );
  });
});
