import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ModelError } from '../../../../../shared/onnx/model/model-error.ts';
import { NpzFile } from '../../../../../shared/onnx/model/npz/npz-file.ts';
import { writeNpz } from '../../../../support/onnx/write-npz.ts';

const folder = mkdtempSync(join(tmpdir(), 'npz-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fixture = (name: string): string => join(import.meta.dirname, '../../../../fixtures/onnx', name);

async function partsOf(path: string, name: string, elements: number): Promise<Uint8Array[]> {
  const file = await NpzFile.open(path);
  try {
    const parts: Uint8Array[] = [];
    for await (const part of file.arrays.get(name)!.parts(elements)) parts.push(part);
    return parts;
  } finally {
    await file.close();
  }
}

const joined = (parts: Uint8Array[]): ArrayBuffer => {
  const all = Buffer.concat(parts);
  return all.buffer.slice(all.byteOffset, all.byteOffset + all.length) as ArrayBuffer;
};

test.each([
  [[1000, 2], 'is truncated: its header declares'],
  [[1, 2], 'is longer than its header declares'],
])('a head that says %o is refused before anything is read', async (said, fault) => {
  const path = join(folder, `lying-${said[0]}.npz`);
  await writeNpz(path, { x: { type: 'float', dims: said, values: new Float32Array(8) } });
  await expect(NpzFile.open(path)).rejects.toThrow(fault);
});

describe('a file that NumPy compressed', () => {
  const counted = Array.from({ length: 24 }, (_, index) => index);

  test('says its arrays', async () => {
    const file = await NpzFile.open(fixture('numpy.npz'));
    await file.close();
    const said = [...file.arrays.values()].map(({ name, header: { type, dims } }) => [name, type, dims]);
    expect(said).toEqual([
      ['c', 'float', [2, 3, 4]],
      ['fortran', 'float', [2, 3, 4]],
      ['big', 'double', [2, 3, 4]],
      ['half', 'float16', [2, 3, 4]],
      ['flags', 'bool', [3]],
      ['wide', 'int64', [6]],
      ['tiny', 'uint8', [5]],
      ['scalar', 'float', []],
      ['empty', 'float', [0, 3]],
    ]);
  });

  test('gives values sample by sample, in C order and little-endian', async () => {
    const rows = await partsOf(fixture('numpy.npz'), 'c', 12);
    expect(rows.map((row) => [...new Float32Array(joined([row]))])).toEqual([
      counted.slice(0, 12),
      counted.slice(12),
    ]);
    expect([...new Float32Array(joined(await partsOf(fixture('numpy.npz'), 'fortran', 12)))]).toEqual(
      counted,
    );
    expect([...new Float64Array(joined(await partsOf(fixture('numpy.npz'), 'big', 12)))]).toEqual(counted);
    const wide = new BigInt64Array(joined(await partsOf(fixture('numpy.npz'), 'wide', 1)));
    expect([...wide]).toEqual([-3n, -2n, -1n, 0n, 1n, 2n]);
    expect((await partsOf(fixture('numpy.npz'), 'half', 24))[0]?.subarray(0, 6)).toEqual(
      Buffer.from([0, 0, 0, 0x3c, 0, 0x40]),
    );
  });

  test('a rest that fills no sample is left out', async () => {
    expect(await partsOf(fixture('numpy.npz'), 'tiny', 2)).toEqual([
      Buffer.from([0, 1]),
      Buffer.from([2, 3]),
    ]);
  });
});

test('objects other than texts are refused, for they are programs', async () => {
  const file = await NpzFile.open(fixture('numpy-objects.npz'));
  try {
    await expect(file.arrays.get('x')?.texts(1).next()).rejects.toThrow('contains others than texts');
    expect((await file.arrays.get('y')?.texts(1).next())?.value).toEqual(['a']);
  } finally {
    await file.close();
  }
});

test('what is written can be read', async () => {
  const path = join(folder, 'own.npz');
  await writeNpz(path, {
    x: { type: 'float', dims: [3, 2], values: Float32Array.of(1, 2, 3, 4, 5, 6) },
    labels: { type: 'int64', dims: [3], values: BigInt64Array.of(7n, 8n, 9n) },
  });
  expect([...new Float32Array(joined(await partsOf(path, 'x', 2)))]).toEqual([1, 2, 3, 4, 5, 6]);
  expect([...new BigInt64Array(joined(await partsOf(path, 'labels', 1)))]).toEqual([7n, 8n, 9n]);
});

test('every file that was cut short or has a wrong byte is a fault of the set or reads as before', async () => {
  const whole = readFileSync(fixture('numpy.npz'));
  const path = join(folder, 'broken.npz');
  const faults: unknown[] = [];
  for (let at = 0; at < whole.length; at += 61) {
    const changed = at % 2 === 0 ? whole.subarray(0, at) : Buffer.from(whole);
    if (at % 2 === 1) changed[at] = (changed[at] ?? 0) ^ 0x15;
    writeFileSync(path, changed);
    try {
      await partsOf(path, 'c', 12);
    } catch (error) {
      faults.push(error);
    }
  }
  expect(faults.length).toBeGreaterThan(10);
  // An array that is no longer there under its name is not looked for by name outside this test.
  for (const fault of faults) expect(fault instanceof ModelError || fault instanceof TypeError).toBe(true);
});

test('what is no archive is refused', async () => {
  const path = join(folder, 'text.npz');
  writeFileSync(path, 'not an archive');
  await expect(NpzFile.open(path)).rejects.toThrow('The data set is not an npz file, or is damaged');
});
