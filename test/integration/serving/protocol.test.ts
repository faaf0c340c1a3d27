import { beforeAll, expect, test } from 'vitest';
import { readInferRequest } from '../../../shared/serving/protocol/infer-request.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { ask, binary, image, imageInput, protocol, serve, splitAnswer } from './served-model.ts';

let service: TestService;
let as: TestUser;
beforeAll(async () => {
  service = await testService();
  as = await service.user('developer');
  const labels = Buffer.from('zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n');
  const served = await serve(service, as, 'digits.onnx', {}, { labels });
  expect(served.status, served.text).toBe(200);
});

test('a served model describes its inputs and outputs', async () => {
  const answer = await protocol(service, 'models/digits.onnx', { as });

  expect(answer.json).toMatchObject({
    name: 'digits.onnx',
    versions: ['original'],
    platform: 'onnxruntime_onnx',
    inputs: [{ name: 'image', datatype: 'FP32', shape: [-1, 1, 8, 8] }],
    outputs: [{ name: 'logits', datatype: 'FP32', shape: [-1, 10] }],
    parameters: { version: 'original', strategy: null, receipt: null },
  });
});

test('JSON and binary tensors give the same answer', async () => {
  const json = await ask(service, 'digits.onnx', { id: 'seven', inputs: [imageInput(2)] }, { as });
  const pixels = Float32Array.from([...image, ...image]);
  const sent = binary(
    {
      inputs: [
        {
          name: 'image',
          shape: [2, 1, 8, 8],
          datatype: 'FP32',
          parameters: { binary_data_size: pixels.byteLength },
        },
      ],
      outputs: [{ name: 'logits', parameters: { binary_data: true } }],
    },
    [new Uint8Array(pixels.buffer)],
  );
  const raw = splitAnswer(await protocol(service, 'models/digits.onnx/infer', { ...sent, as }));

  expect(json.json).toMatchObject({ model_name: 'digits.onnx', model_version: 'original', id: 'seven' });
  const [output] = json.json.outputs;
  expect(output).toMatchObject({ name: 'logits', datatype: 'FP32', shape: [2, 10] });
  expect(raw.json.outputs).toEqual([
    { name: 'logits', datatype: 'FP32', shape: [2, 10], parameters: { binary_data_size: 80 } },
  ]);
  const values = new Float32Array(new Uint8Array(raw.tensors).buffer);
  expect([...values]).toEqual(output.data);
  expect(output.data.slice(0, 10)).toEqual(output.data.slice(10));
});

test('all faults of a request are named at once, in the form of the protocol', async () => {
  const answer = await ask(
    service,
    'digits.onnx',
    {
      inputs: [
        { name: 'image', shape: [1, 1, 9, 8], datatype: 'FP32', data: [] },
        { name: 'picture', shape: [1], datatype: 'FP32', data: [1] },
      ],
      outputs: [{ name: 'labels' }],
    },
    { as },
  );

  expect(answer.status).toBe(400);
  expect(Object.keys(answer.json)).toEqual(['error']);
  expect(answer.json.error).toContain('inputs[0].shape: must be [-1, 1, 8, 8]; it is [1, 1, 9, 8]');
  expect(answer.json.error).toContain(
    'inputs[1].name: must be an input of the model: "image"; it is "picture"',
  );
  expect(answer.json.error).toContain('outputs[0].name: must be an output of the model: "logits"');
});

test.each(['', '/config', '/ready', '/versions/original', '/versions/original/ready'])(
  'a name that no model can have is refused at models/NAME%s',
  async (suffix) => {
    const answers = await Promise.all(
      ['x'.repeat(1100), '𝕬'.repeat(300), 'a/b'].map((name) =>
        protocol(service, `models/${encodeURIComponent(name)}${suffix}`, { as }),
      ),
    );

    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
    expect(answers[0]?.json.error).toContain('model_name: must start with a letter or digit');
  },
);

test('one answer names the faults of type, shape and bytes of every input', async () => {
  await serve(service, as, 'every-type.onnx', {}, {}, 'every-type.onnx');
  const sized = (name: string, datatype: string, shape: unknown, binary_data_size: number) => ({
    name,
    datatype,
    shape,
    parameters: { binary_data_size },
  });
  const sent = binary(
    {
      inputs: [
        sized('in_FLOAT', 'FP99', [2, 2], 12),
        sized('in_INT64', 'INT64', [2], 9),
        { name: 'in_BOOL', datatype: 'INT8', shape: [2, 1], data: [1, 2, 300] },
        { name: 'in_UINT8', datatype: 'UINT8', shape: 'two', data: [256] },
        sized('in_INT8', 'INT8', [2], 99),
      ],
    },
    [new Uint8Array(25)],
  );

  const answer = await protocol(service, 'models/every-type.onnx/infer', { ...sent, as });

  expect(answer.status).toBe(400);
  for (const fault of [
    'inputs[0].datatype: must be FP32; it is "FP99"',
    'inputs[0].shape: must be [-1]; it is [2, 2]',
    'inputs[0].parameters.binary_data_size: must be 16 for FP32 of the shape [2, 2]; it is 12',
    'inputs[1].parameters.binary_data_size: must be 16 for INT64 of the shape [2]; it is 9',
    'inputs[2].datatype: must be BOOL; it is "INT8"',
    'inputs[2].shape: must be [-1]; it is [2, 1]',
    'inputs[2].data: must have 2 values, as the shape says; it has 3',
    'inputs[2].data[2]: must be a whole number from -128 to 127; it is "300"',
    'inputs[3].shape: must be a list of whole numbers: [-1]',
    'inputs[3].data[0]: must be a whole number from 0 to 255; it is "256"',
    'inputs[4].parameters.binary_data_size: must be at most 4, the bytes that are left of the body',
  ])
    expect(answer.json.error).toContain(fault);
  expect(answer.json.error).not.toContain('that no binary_data_size covers');
});

test('a classification names the best classes with their labels', async () => {
  const all = await ask(service, 'digits.onnx', { inputs: [imageInput()] }, { as });
  const answer = await ask(
    service,
    'digits.onnx',
    { inputs: [imageInput()], parameters: { classification: 3 } },
    { as },
  );

  const [{ data, shape, datatype }] = answer.json.outputs;
  expect({ shape, datatype }).toEqual({ shape: [1, 3], datatype: 'BYTES' });
  const values: number[] = all.json.outputs[0].data;
  const best = values.indexOf(Math.max(...values));
  const names = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
  expect(data[0]).toBe(`${values[best]?.toFixed(6)}:${best}:${names[best]}`);
});

test('a text with U+0000, which the session would cut, is refused with its place', async () => {
  const signature = {
    inputs: [{ name: 'x', datatype: 'BYTES' as const, shape: [-1] }],
    outputs: [{ name: 'y', datatype: 'BYTES' as const, shape: [-1] }],
  };
  const read = (input: object, tail = Buffer.alloc(0)) => {
    const json = Buffer.from(
      JSON.stringify({ inputs: [{ name: 'x', datatype: 'BYTES', shape: [2], ...input }] }),
    );
    const message = {
      bytes: Buffer.concat([json, tail]),
      headerLength: String(json.length),
      encoding: undefined,
    };
    return readInferRequest(message, signature, 8);
  };
  const raw = Buffer.from('\x01\0\0\0a\x03\0\0\0a\0b');

  await expect(read({ data: ['a', 'a\0b'] })).rejects.toMatchObject({
    errors: [
      { name: 'inputs[0].data[1]', message: expect.stringContaining('must be a string without U+0000') },
    ],
  });
  await expect(read({ parameters: { binary_data_size: raw.length } }, raw)).rejects.toMatchObject({
    errors: [{ name: 'inputs[0]', message: expect.stringContaining('holds U+0000 in element 1') }],
  });
});

test('an empty tensor is read as the clients of KServe and Triton send it in binary', async () => {
  const signature = {
    inputs: [
      { name: 'cache', datatype: 'FP32' as const, shape: [-1, 2, -1] },
      { name: 'texts', datatype: 'BYTES' as const, shape: [-1] },
    ],
    outputs: [{ name: 'y', datatype: 'FP32' as const, shape: null }],
  };
  const sized = { parameters: { binary_data_size: 0 } };
  for (const more of [sized, { ...sized, data: null }]) {
    const json = {
      inputs: [
        { name: 'cache', datatype: 'FP32', shape: [1, 2, 0], ...more },
        { name: 'texts', datatype: 'BYTES', shape: [0], ...more },
      ],
    };
    const bytes = Buffer.from(JSON.stringify(json));
    // Without the bytes of a tensor, KServe's client sends no header.
    for (const headerLength of [undefined, String(bytes.length)]) {
      const { inputs } = await readInferRequest({ bytes, headerLength, encoding: undefined }, signature, 8);
      expect(inputs.map(({ shape, bytes: raw }) => [shape, raw.length])).toEqual([
        [[1, 2, 0], 0],
        [[0], 0],
      ]);
    }
  }
});

test('an input with a default in the model is refused by what it is', async () => {
  const tensor = (name: string) => ({ name, datatype: 'FP32' as const, shape: [1] });
  const signature = { inputs: [tensor('x')], defaulted: ['scale'], outputs: [tensor('y')] };
  const inputs = ['x', 'scale'].map((name) => ({ ...tensor(name), data: [1] }));
  const bytes = Buffer.from(JSON.stringify({ inputs }));

  await expect(
    readInferRequest({ bytes, headerLength: undefined, encoding: undefined }, signature, 8),
  ).rejects.toMatchObject({
    errors: [
      {
        name: 'inputs[1].name',
        message: '"scale" has a default in the model, which a request cannot replace: leave it out',
      },
    ],
  });
});
