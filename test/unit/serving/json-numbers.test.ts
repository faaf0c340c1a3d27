import { describe, expect, test } from 'vitest';
import { elementsOf } from '../../../shared/serving/protocol/datatypes.ts';
import { readInferRequest } from '../../../shared/serving/protocol/infer-request.ts';

type Datatype = 'FP32' | 'FP64' | 'FP16' | 'INT64' | 'INT32';

/** The elements that a request of these numbers, as they are written in JSON, gives a model. */
async function elements(datatype: Datatype, ...numbers: readonly string[]) {
  const text = `{"inputs": [{"name": "x", "datatype": "${datatype}", "shape": [${numbers.length}], "data": [${numbers.join(', ')}]}]}`;
  const message = { bytes: Buffer.from(text), headerLength: undefined, encoding: undefined };
  const tensor = { name: 'x', datatype, shape: [-1] };
  const { inputs } = await readInferRequest(message, { inputs: [tensor], outputs: [tensor] }, 100);
  return inputs.map((input) => Array.from<number | bigint>(elementsOf(input)))[0];
}

describe('numbers of a request', () => {
  test('of 64 bits are exact', async () => {
    const numbers = ['9007199254740993', '-9223372036854775808', '3'];

    expect(await elements('INT64', ...numbers)).toEqual(numbers.map(BigInt));
  });

  test('may be left out if the shape has none', async () => {
    const text = '{"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 0]}]}';
    const message = { bytes: Buffer.from(text), headerLength: undefined, encoding: undefined };
    const tensor = { name: 'x', datatype: 'FP32', shape: [1, -1] } as const;

    const { inputs } = await readInferRequest(message, { inputs: [tensor], outputs: [tensor] }, 100);

    expect(inputs.map((input) => elementsOf(input).length)).toEqual([0]);
  });

  test.each(['FP32', 'FP64'] as const)('of many digits are the nearest %s', async (datatype) => {
    const numbers = ['0.12345678901234568', '-1.1754943508222875e-38', '12345678901234567890', '3'];
    const round = datatype === 'FP32' ? Math.fround : Number;

    expect(await elements(datatype, ...numbers)).toEqual(numbers.map((one) => round(Number(one))));
  });

  test('of FP16 are taken by an input of FP32, in half of the bytes', async () => {
    const values = new Float16Array([0.5, 65504, 6e-8, Number.POSITIVE_INFINITY]);
    const input = { name: 'x', datatype: 'FP16', shape: [4], parameters: { binary_data_size: 8 } };
    const head = Buffer.from(JSON.stringify({ inputs: [input] }));
    const bytes = Buffer.concat([head, new Uint8Array(values.buffer)]);
    const message = { bytes, headerLength: String(head.length), encoding: undefined };
    const tensor = { name: 'x', datatype: 'FP32', shape: [-1] } as const;

    const { inputs } = await readInferRequest(message, { inputs: [tensor], outputs: [tensor] }, 100);

    expect(inputs.map((one) => [one.datatype, ...elementsOf(one)])).toEqual([['FP32', ...values]]);
  });

  test('are refused by their place where one is none', async () => {
    await expect(elements('FP32', '1', 'true')).rejects.toThrow('inputs[0].data[1]: must be a number');
    await expect(elements('INT32', '1', '0.5')).rejects.toThrow('inputs[0].data[1]: must be a whole number');
  });
});
