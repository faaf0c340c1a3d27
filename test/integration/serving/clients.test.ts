import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import { endpoint as deleteServing } from '../../../functions/optimization/serving/delete-serving.endpoint.ts';
import { endpoint as putServing } from '../../../functions/optimization/serving/put-serving.endpoint.ts';
import { endpoint as serveModels } from '../../../functions/serving/serve-models.endpoint.ts';
import { type RunningGateway, startGateway } from '../../../infra/local/gateway/gateway-server.ts';
import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import recorded from '../../fixtures/tritonclient.json' with { type: 'json' };
import { runMps } from '../../support/mps.ts';
import { writeNpz } from '../../support/onnx/write-npz.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { ask, image, protocol, serve } from './served-model.ts';

let service: TestService;
let as: TestUser;
beforeAll(async () => {
  service = await testService();
  as = await service.user('developer');
  await serve(service, as, 'digits.onnx');
});

test(`the requests of ${recorded.client} get the answers that it understood`, async () => {
  const answers: string[] = [];
  for (const { method, path, headers, body, signed } of recorded.requests) {
    const given: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) given[name] = value;
    const answer = await protocol(service, path, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers: given,
      body: Buffer.from(body, 'base64'),
      ...(signed && { as }),
    });
    const length = answer.headers['inference-header-content-length'] ?? null;
    answers.push(`${method} ${path} ${answer.status} ${length}`);
  }

  const understood = recorded.requests.map(
    ({ method, path, status, header_length }) => `${method} ${path} ${status} ${header_length}`,
  );
  expect(answers).toEqual(understood);
});

test('every type of the protocol passes through as JSON, and integers keep all digits', async () => {
  await serve(service, as, 'every-type.onnx', {}, {}, 'every-type.onnx');
  const tensors = {
    BOOL: '[true, false]',
    UINT8: '[0, 255]',
    UINT16: '[0, 65535]',
    UINT32: '[0, 4294967295]',
    UINT64: '[0, 18446744073709551615]',
    INT8: '[-128, 127]',
    INT16: '[-32768, 32767]',
    INT32: '[-2147483648, 2147483647]',
    INT64: '[-9223372036854775808, 9007199254740993]',
    FP16: '[0.5, -2]',
    FP32: '[0.5, 16777216]',
    FP64: '[0.1, 1e300]',
    BYTES: '["", "Grüße"]',
  };
  const onnx: Record<string, string> = { FP16: 'FLOAT16', FP32: 'FLOAT', FP64: 'DOUBLE', BYTES: 'STRING' };
  const inputs = Object.entries(tensors).map(
    ([datatype, data]) =>
      `{"name": "in_${onnx[datatype] ?? datatype}", "shape": [2], "datatype": "${datatype}", "data": ${data}}`,
  );

  const answer = await protocol(service, 'models/every-type.onnx/infer', {
    method: 'POST',
    body: `{"inputs": [${inputs.join(', ')}]}`,
    as,
  });

  expect(answer.status, answer.text).toBe(200);
  for (const [datatype, data] of Object.entries(tensors)) {
    const values = data.replaceAll(', ', ',').replace('1e300', '1e+300');
    expect(answer.text).toContain(`"datatype":"${datatype}","shape":[2],"data":${values}`);
  }
});

test('JSON refuses NaN and Infinity in an answer, and names the way to get them', async () => {
  const bytes = new Uint8Array(Float32Array.of(Number.NaN, 1).buffer);
  const names = 'BOOL UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FLOAT16 DOUBLE STRING'.split(' ');
  const datatypes: Record<string, string> = { FLOAT16: 'FP16', DOUBLE: 'FP64', STRING: 'BYTES' };
  const others = names.map((kind) => ({
    name: `in_${kind}`,
    datatype: datatypes[kind] ?? kind,
    shape: [0],
    data: [],
  }));
  const head = (isBinary: boolean) =>
    Buffer.from(
      JSON.stringify({
        inputs: [
          { name: 'in_FLOAT', datatype: 'FP32', shape: [2], parameters: { binary_data_size: bytes.length } },
          ...others,
        ],
        outputs: [{ name: 'out_FLOAT', parameters: { binary_data: isBinary } }],
      }),
    );
  const answer = (isBinary: boolean) =>
    protocol(service, 'models/every-type.onnx/infer', {
      method: 'POST',
      headers: { 'Inference-Header-Content-Length': String(head(isBinary).length) },
      body: Buffer.concat([head(isBinary), bytes]),
      as,
    });

  const [json, binary] = [await answer(false), await answer(true)];

  expect(json.status).toBe(400);
  expect(json.json.error).toContain('ask for it with "parameters": {"binary_data": true}');
  expect(binary.status).toBe(200);
  expect(binary.bytes.subarray(-8)).toEqual(Buffer.from(bytes));
});

describe('mps', () => {
  let folder: string;
  let gateway: RunningGateway;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mps-serve-'));
    const pixels = { type: 'float' as const, dims: [1, 1, 8, 8], values: Float32Array.from(image) };
    await writeNpz(join(folder, 'samples.npz'), { image: pixels });
    // A picture twice as wide and high as the input, in the shades of the input.
    const drawn = new PNG({ width: 16, height: 16 });
    for (let at = 0; at < 256; at += 1) {
      const shade = 255 * (image[8 * Math.floor(at / 32) + Math.floor((at % 16) / 2)] ?? 0);
      drawn.data.set([shade, shade, shade, 255], 4 * at);
    }
    await writeFile(join(folder, 'photo.png'), PNG.sync.write(drawn));
    await writeFile(join(folder, 'notes.png'), 'no picture');
    const endpoints = [createToken, putServing, deleteServing, serveModels].map((endpoint) => ({
      file: endpoint.name,
      endpoint,
      handler: lambda(endpoint, service.environment),
    }));
    gateway = await startGateway({ endpoints, port: 0 });
  });
  afterAll(async () => {
    await gateway.close();
    await rm(folder, { recursive: true, force: true });
  });

  const mps = (...args: string[]) =>
    runMps(args, { folder, home: folder, environment: { MPS_URL: gateway.url, MPS_TOKEN: as.token } });

  test('serves a model, asks it, and turns it off', async () => {
    const served = await mps('serve', 'digits.onnx', '--json');
    const asked = await mps('infer', 'digits.onnx', '--input', 'image=samples.npz', '--json');
    const best = await mps('infer', 'digits.onnx', '--input', 'image=samples.npz', '--classes', '2');
    const wrong = await mps('infer', 'digits.onnx', '--input', 'picture=samples.npz:image');

    expect(JSON.parse(served.stdout)).toMatchObject({ model_name: 'digits.onnx', access: 'viewer' });
    const input = { name: 'image', shape: [1, 1, 8, 8], datatype: 'FP32', data: image };
    const direct = await ask(service, 'digits.onnx', { inputs: [input] }, { as });
    expect(JSON.parse(asked.stdout).outputs[0].data).toEqual(direct.json.outputs[0].data);
    expect(best.stdout).toMatch(/logits {2}BYTES \[1, 2\]\n {2}\d\.\d+:\d {2}\d\.\d+:\d/);
    expect(wrong).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('must be an input of the model'),
    });

    const photo = await mps('infer', 'digits.onnx', '--image', 'photo.png', '--json');
    const notes = await mps('infer', 'digits.onnx', '--image', 'notes.png');
    const other = await mps('infer', 'digits.onnx', '--image', 'mask=photo.png');
    expect(photo).toMatchObject({ code: 0, stderr: '' });
    const [seen, meant] = [photo, asked].map(({ stdout }) => JSON.parse(stdout).outputs[0].data);
    for (const [index, value] of meant.entries()) expect(seen[index]).toBeCloseTo(value, 1);
    expect(notes).toMatchObject({ code: 2, stderr: expect.stringContaining('must be a PNG or JPEG file') });
    expect(other.stderr).toContain('Inputs of digits.onnx that take a picture: image.');

    const off = await mps('serve', 'digits.onnx', '--off');
    const after = await mps('infer', 'digits.onnx', '--input', 'image=samples.npz');
    expect(off).toMatchObject({ code: 0 });
    expect(after.stderr).toContain('There is no served model digits.onnx');
  });
});
