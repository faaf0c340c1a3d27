import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { usualLimits } from '../../../../../shared/onnx/model/inspect/inspect-limits.ts';
import { inspectModel } from '../../../../../shared/onnx/model/inspect/inspect-model.ts';
import { ModelError } from '../../../../../shared/onnx/model/model-error.ts';
import { counted, field, initializer, message, modelOf, node, scattered, varint } from './wire.ts';

const fixture = (name: string) => readFileSync(join(import.meta.dirname, '../../../../fixtures/onnx', name));
const inspect = (bytes: Uint8Array) => inspectModel(counted(bytes));

describe('an inspection', () => {
  test('tells inputs, outputs, operators and sizes', async () => {
    expect(await inspect(fixture('digits.onnx'))).toEqual({
      ir_version: 8,
      producer: 'make.py 1',
      opsets: { 'ai.onnx': 17 },
      inputs: [{ name: 'image', type: 'float', shape: ['batch', 1, 8, 8] }],
      defaulted_inputs: ['conv.weight'],
      outputs: [{ name: 'logits', type: 'float', shape: ['batch', 10] }],
      operators: { Conv: 1, Relu: 1, GlobalAveragePool: 1, Flatten: 1, Gemm: 1 },
      nodes: 5,
      initializers: 4,
      parameters: 6 * 9 + 6 + 60 + 10,
      initializer_bytes: 4 * (6 * 9 + 6 + 60 + 10),
      external_files: [],
      external_bytes: {},
      has_control_flow: false,
      functions: 0,
    });
  });

  test('tells the files that external data is in', async () => {
    const { external_files, external_bytes, parameters, inputs } = await inspect(fixture('pair.onnx'));
    expect(external_files).toEqual(['w1.bin', 'w2.bin']);
    expect(external_bytes).toEqual({ 'w1.bin': 256, 'w2.bin': 128 });
    expect(parameters).toBe(96);
    expect(inputs.map(({ name }) => name)).toEqual(['left', 'right']);
  });

  test('looks into branches and functions', async () => {
    const found = await inspect(fixture('choice.onnx'));
    expect(found).toMatchObject({
      opsets: { 'ai.onnx': 17, local: 1 },
      operators: { If: 1, Mul: 1, Identity: 1, 'local.Twice': 1, Add: 1 },
      has_control_flow: true,
      functions: 1,
      parameters: 1,
    });
    expect(found.inputs).toEqual([
      { name: 'flag', type: 'bool', shape: [] },
      { name: 'x', type: 'float', shape: ['n'] },
    ]);
  });

  test('skips raw data: of 1.9 GB it reads a few ranges', async () => {
    const values = 640_000_000;
    const head = (index: number) =>
      message(field(1, values / 4), field(2, 1), field(8, `w${index}`), varint(9 * 8 + 2), varint(values));
    const tensors = [0, 1, 2].map((index) => {
      const start = head(index);
      return [Buffer.concat([varint(5 * 8 + 2), varint(start.length + values), start]), values] as const;
    });
    const graph = tensors.reduce((sum, [start]) => sum + start.length + values, 0);
    const front = message(field(1, 8), field(8, field(2, 17)), varint(7 * 8 + 2), varint(graph));
    const source = scattered([[front, 0], ...tensors]);
    expect(await inspectModel(source)).toMatchObject({
      parameters: 480_000_000,
      initializer_bytes: 3 * values,
    });
    expect(source.size).toBeGreaterThan(1_900_000_000);
    expect(source.reads).toBeLessThanOrEqual(4);
    expect(source.bytes).toBeLessThanOrEqual(4 * 1024 ** 2);
  });

  test('reads dimensions packed or one by one', async () => {
    const one = initializer('a', field(1, 3), field(1, 5), field(2, 1));
    const packed = initializer('b', field(1, message(varint(3), varint(300))), field(2, 7));
    const { parameters, initializer_bytes } = await inspect(modelOf(one, packed));
    expect({ parameters, initializer_bytes }).toEqual({ parameters: 915, initializer_bytes: 60 + 7200 });
  });

  test('counts weights that nodes of Constant hold, and no other tensors of nodes', async () => {
    const tensor = field(5, field(5, message(field(1, 3), field(1, 5), field(2, 1))));
    const { parameters, initializer_bytes, initializers } = await inspect(
      modelOf(node('Constant', tensor), node('ConstantOfShape', tensor)),
    );
    expect({ parameters, initializer_bytes, initializers }).toEqual({
      ...{ parameters: 15, initializer_bytes: 60, initializers: 0 },
    });
  });

  test('counts more tensors of one node than a call takes arguments', async () => {
    const tensors = field(5, Buffer.concat(Array(200_000).fill(field(10, field(2, 1)))));
    const { parameters } = await inspect(modelOf(node('Constant', tensors)));
    expect(parameters).toBe(200_000);
  });

  test('finds initializers that come after the inputs which they back', async () => {
    const input = (name: string) => field(11, field(1, name));
    const { inputs } = await inspect(
      modelOf(input('x'), input('w'), initializer('w', field(1, 1), field(2, 1), field(9, Buffer.alloc(4)))),
    );
    expect(inputs).toEqual([{ name: 'x', type: 'undefined', shape: null }]);
  });

  test('every way to cut a model off is told', async () => {
    const whole = fixture('choice.onnx');
    for (let length = 0; length < whole.length; length += 1) {
      // A model without the functions at its end is a whole one.
      const outcome = await inspect(whole.subarray(0, length)).catch((error: unknown) => error);
      if (outcome instanceof Error) expect([length, outcome]).toEqual([length, expect.any(ModelError)]);
      else expect(outcome).toHaveProperty('nodes');
    }
  });

  test('no mutation of a model does worse than a fault', async () => {
    const whole = fixture('digits.onnx');
    let seed = 11;
    const random = (below: number) => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    let faults = 0;
    for (let round = 0; round < 2000; round += 1) {
      const bytes = Buffer.from(whole);
      for (let change = 0; change <= round % 4; change += 1) bytes[random(bytes.length)] = random(256);
      const source = counted(bytes);
      const outcome = await inspectModel(source).catch((error: unknown) => error);
      if (outcome instanceof Error) {
        expect(outcome).toBeInstanceOf(ModelError);
        faults += 1;
      }
      expect(source.reads).toBeLessThan(5);
    }
    expect(faults).toBeGreaterThan(100);
  });
});

describe('what is no model', () => {
  const many = (count: number, of: (index: number) => Uint8Array) =>
    Array.from({ length: count }, (_, i) => of(i));
  const tensor = (...more: Uint8Array[]) => modelOf(initializer('w', ...more));
  const external = (location: string, ...more: [string, string][]) =>
    tensor(
      field(1, 4),
      field(2, 1),
      field(14, 1),
      ...[['location', location] as const, ...more].map(([key, value]) =>
        field(13, message(field(1, key), field(2, value))),
      ),
    );
  let nested = message();
  for (let depth = 0; depth < 40; depth += 1)
    nested = message(field(1, message(field(4, 'If'), field(5, field(6, nested)))));

  test.each<[string, Uint8Array, string]>([
    ['nothing', Buffer.alloc(0), 'the file is empty'],
    ['text', Buffer.from('{"not": "a model"}'), 'not an ONNX model'],
    ['a web page', Buffer.from('<!doctype html><html>'), 'not an ONNX model'],
    ['a zip archive', Buffer.from('PK\x03\x04aaaaaaaaaaaaaaaa'), 'not an ONNX model'],
    ['zeros', Buffer.alloc(100), 'no field at byte 0'],
    ['no graph', message(field(1, 8), field(8, field(2, 17))), 'no graph'],
    ['no operator set', message(field(1, 8), field(7, message())), 'no operator set'],
    ['two graphs', message(field(1, 8), field(7, ''), field(7, '')), 'two graphs'],
    ['an impossible IR version', message(field(1, -1n)), 'IR version'],
    ['an overlong number', Buffer.concat([Buffer.from([8]), Buffer.alloc(11, 0xff)]), 'more than 64 bits'],
    ['a length beyond the end', message(varint(7 * 8 + 2), varint(2n ** 63n)), 'but only 0 are left'],
    ['a group', Buffer.from([0x0b, 0x0c]), 'no field'],
    ['nested graphs', modelOf(nested), 'more than 32 deep'],
    ['a huge dimension', tensor(field(1, 2n ** 62n), field(2, 1)), 'impossible dimension'],
    ['a negative dimension', tensor(field(1, -4n), field(2, 1)), 'impossible dimension'],
    ['a huge product', tensor(...many(9, () => field(1, 2 ** 40)), field(2, 1)), 'impossible shape'],
    ['a rank of 65', tensor(...many(65, () => field(1, 1)), field(2, 1)), '64 dimensions'],
    ['an unknown type', tensor(field(1, 1), field(2, 99)), 'unknown type (99)'],
    [
      'too few bytes',
      tensor(field(1, 4), field(2, 1), field(9, Buffer.alloc(15))),
      '15 bytes, but its shape [4] needs 16',
    ],
    [
      'external data without a place',
      tensor(field(1, 4), field(2, 1), field(14, 1)),
      'no location of its external data',
    ],
    ['external data above', external('../../etc/passwd'), 'in the folder of the model'],
    ['external data elsewhere', external('/etc/passwd'), 'in the folder of the model'],
    [
      'external data below the file of the model',
      external('model.onnx/w.bin'),
      'cannot be a file and a folder',
    ],
    ['external data behind a link upwards', external('a/../b.bin'), 'in the folder of the model'],
    ['external data in the prototype', external('__proto__'), 'in the folder of the model'],
    ['external data at no offset', external('w.bin', ['offset', '-1']), 'impossible offset'],
    ['external data of no length', external('w.bin', ['length', '1e9']), 'impossible length'],
    ['a name of a megabyte', modelOf(node('x'.repeat(1_000_000))), 'at most 4096'],
    ['a node without an operator', modelOf(field(1, field(1, 'x'))), 'without an operator'],
    [
      'a thousand and one operators',
      modelOf(...many(1001, (index) => node(`o${index}`))),
      'different operators',
    ],
    [
      'operators with long names',
      modelOf(...many(100, (index) => node(`${index}`.padEnd(4000, 'x')))),
      'together are too long',
    ],
    [
      'a thousand and one inputs',
      modelOf(...many(1001, () => field(11, field(1, 'i')))),
      'more than 1000 inputs',
    ],
    [
      'a dimension of 2^60',
      modelOf(field(11, field(2, field(1, field(2, field(1, field(1, 2n ** 60n))))))),
      'impossible dimension',
    ],
  ])('%s', async (_, bytes, what) => {
    const outcome = await inspect(bytes).catch((error: unknown) => error);
    expect(outcome).toBeInstanceOf(ModelError);
    expect(String(outcome)).toContain(what);
  });

  test('reads and bytes are bounded', async () => {
    const floats = (count: number) => Buffer.concat(Array(count).fill(Buffer.from([0x25, 0, 0, 0, 0])));
    const scattered = modelOf(...many(6, (index) => initializer(`w${index}`, field(2, 1), floats(300_000))));
    await expect(inspectModel(counted(scattered), { ...usualLimits, bytes: 4_000_000 })).rejects.toThrow(
      'too large to inspect',
    );
    await expect(inspectModel(counted(scattered), { ...usualLimits, reads: 3 })).rejects.toThrow(
      'too large to inspect',
    );
    await expect(inspectModel(counted(scattered))).resolves.toMatchObject({ initializers: 6 });
  });

  test('a source that ends early is told', async () => {
    const bytes = fixture('digits.onnx');
    const source = { size: bytes.length + 10, read: async () => bytes };
    await expect(inspectModel(source)).rejects.toThrow('it ends early');
  });
});
