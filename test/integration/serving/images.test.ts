import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { packBytes } from '../../../shared/serving/protocol/datatypes.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { serveFolder } from './served-folder.ts';
import { ask, binary, protocol } from './served-model.ts';

const folder = join(import.meta.dirname, '../../fixtures/images');
const tiny = '../images/tiny-vit';

let service: TestService;
let as: TestUser;
let files: Buffer[];
/** Scores that PyTorch gives with the processor of transformers. */
let expected: number[][];
beforeAll(async () => {
  service = await testService();
  as = await service.user('developer');
  files = await Promise.all(['wide.png', 'tall.jpg', 'gray.png'].map((name) => readFile(join(folder, name))));
  expected = JSON.parse(await readFile(join(folder, 'expected.json'), 'utf8'));
});

const difference = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((value, at) => Math.abs(value - (b[at] ?? Number.NaN))));

const base64 = (file: Uint8Array): string => Buffer.from(file).toString('base64');

test('a model with its image processor answers pictures as PyTorch does, in each form', async () => {
  await serveFolder(service, as, 'pets', tiny);

  const plain = await ask(service, 'pets', { images: files.map(base64) }, { as });
  const bytes = packBytes(files);
  const input = {
    name: 'image',
    datatype: 'BYTES',
    shape: [3],
    parameters: { binary_data_size: bytes.length },
  };
  const raw = await protocol(service, 'models/pets/infer', { ...binary({ inputs: [input] }, [bytes]), as });
  const data = files.map((file) => `data:image/png;base64,${base64(file)}`);
  const json = await ask(
    service,
    'pets',
    { inputs: [{ name: 'image', datatype: 'BYTES', shape: [3], data }] },
    { as },
  );
  const described = await protocol(service, 'models/pets', { as });

  expect(plain.status, plain.text).toBe(200);
  const best = expected.map((row) => Math.max(...row));
  expect(plain.json.labels.map(({ label }: { label: string }) => label)).toEqual(['cat', 'cat', 'cat']);
  expect(
    difference(
      plain.json.labels.map(({ score }: { score: number }) => score),
      best,
    ),
  ).toBeLessThan(1e-3);
  for (const answer of [raw, json]) {
    expect(answer.status, answer.text).toBe(200);
    const [label, scores] = answer.json.outputs;
    expect(label).toMatchObject({
      name: 'label',
      datatype: 'BYTES',
      shape: [3],
      data: ['cat', 'cat', 'cat'],
    });
    expect(scores).toMatchObject({ name: 'scores', datatype: 'FP32', shape: [3, 3] });
    expect(difference(scores.data, expected.flat())).toBeLessThan(1e-3);
  }
  expect(described.json.parameters.images).toMatchObject({
    task: 'classification',
    resize: { height: 32, width: 32 },
  });
});

/** A PNG that says it has so many pixels a side, in a few bytes. */
function bomb(side: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  const start = Buffer.from('89504e470d0a1a0a', 'hex');
  const rows = deflateSync(Buffer.alloc(100_000));
  return Buffer.concat([start, chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
}

test('bad pictures are refused with what is wrong, and the model goes on', async () => {
  await serveFolder(service, as, 'bounded', tiny);
  const [png = Buffer.alloc(0), jpeg = Buffer.alloc(0)] = files;
  const scans = Buffer.concat([jpeg.subarray(0, -2), ...Array(120).fill(Buffer.from('ffda0002', 'hex'))]);
  const refusal = async (images: unknown) => {
    const { status, json } = await ask(service, 'bounded', { images }, { as });
    expect(status).toBe(400);
    return json.error;
  };

  expect(await refusal([])).toContain('images: must be a list of pictures in base64');
  expect(await refusal([base64(png), 7, 'R0lGODlh'])).toContain('images[1]: must be a PNG or JPEG file');
  expect(await refusal([base64(png), 'R0lGODlh'])).toContain('images[1]: must be a PNG or JPEG file');
  expect(await refusal([base64(png), base64(png.subarray(0, 600))])).toContain('images[1] is damaged');
  expect(await refusal([base64(png.subarray(0, 9))])).toContain('images[0] is damaged');
  expect(await refusal([base64(bomb(40_000))])).toContain('images[0] has 40000 x 40000 pixels');
  expect(await refusal([base64(bomb(4_000))])).toContain('images[0] is damaged');
  expect(await refusal([base64(scans)])).toContain('scans');
  expect(await refusal(Array(257).fill(base64(png)))).toContain('at most 256 (max_batch)');
  expect((await ask(service, 'bounded', { images: [base64(jpeg)] }, { as })).status).toBe(200);
});

test('a model without an image processor, or with another one, says why it takes no pictures', async () => {
  await serveFolder(service, as, 'sentences', 'minilm');
  await serveFolder(service, as, 'padded', tiny, {
    'preprocessor_config.json': '{"image_processor_type": "ViTImageProcessor", "do_pad": true}',
  });
  const errorOf = async (name: string) => {
    const { status, json } = await ask(service, name, { images: files.slice(0, 1).map(base64) }, { as });
    return `${status} ${json.error}`;
  };

  expect(await errorOf('sentences')).toContain(
    '400 images: this model takes no pictures: it has no preprocessor',
  );
  expect(await errorOf('padded')).toContain('do_pad is not supported');
});
