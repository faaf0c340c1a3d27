import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../../shared/core/new-id.ts';
import { packBytes } from '../../../shared/serving/protocol/datatypes.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { madePng } from './made-png.ts';
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

const square = (side: number) => ({ width: side, height: side });

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
  expect(await refusal([base64(madePng({ ...square(40_000), bytes: 1e5 }))])).toContain(
    'images[0] has 40000 x 40000 pixels',
  );
  expect(await refusal([base64(madePng({ ...square(4_000), bytes: 1e5 }))])).toContain(
    'images[0] is damaged',
  );
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

const largest = { width: 6_000, height: 4_000 } as const;
test.each<[string, Parameters<typeof madePng>[0], string]>([
  [
    'is interlaced with 16 bits',
    { ...largest, depth: 16, channels: 4, isInterlaced: true },
    'is interlaced and has 192 MB of pixels',
  ],
  ['is wide and thin', { width: 9_999_999, height: 2 }, 'at most 16384 a side'],
  ['is high and thin', { width: 2, height: 9_999_999 }, 'at most 16384 a side'],
])('a picture that %s is refused before it is decoded, and the model goes on', async (_, form, fault) => {
  const model = `m${newId()}`;
  await serveFolder(service, as, model, tiny);
  const image = base64(madePng(form));
  const asked = async (images: string[]) => (await ask(service, model, { images }, { as })).json.error;

  const refusals = [await asked([image]), await asked([image]), await asked([image])];
  const after = await ask(service, model, { images: files.slice(0, 1).map(base64) }, { as });

  expect(refusals).toEqual(Array(3).fill(expect.stringContaining(fault)));
  expect(after.status, after.text).toBe(200);
});

test('the largest pictures are answered one after the other', async () => {
  await serveFolder(service, as, 'large', tiny);
  const forms = [
    largest,
    { ...largest, isInterlaced: true },
    { ...largest, depth: 16, channels: 4 } as const,
    { width: 3_000, height: 3_000, depth: 16, channels: 4, isInterlaced: true } as const,
  ];
  const images = forms.map((form) => base64(madePng(form)));

  const { status, text } = await ask(service, 'large', { images }, { as });

  expect(status, text).toBe(200);
});

const vit = { image_processor_type: 'ViTImageProcessor', size: 32 };
test.each<[string, string, object | string]>([
  ['image_std', 'preprocessor_config.json', { ...vit, image_std: 1e-310 }],
  ['image_std', 'preprocessor_config.json', { ...vit, image_std: [1, -1, 1] }],
  ['image_std', 'preprocessor_config.json', { ...vit, image_std: 1e300, image_mean: 1e-300 }],
  ['image_mean', 'preprocessor_config.json', { ...vit, image_mean: 1e-200 }],
  ['NaN', 'preprocessor_config.json', '{"image_std": NaN}'],
  ['rescale_factor', 'preprocessor_config.json', '{"rescale_factor": 1e999}'],
  ['size', 'preprocessor_config.json', { ...vit, size: { height: 32 } }],
  ['resample', 'preprocessor_config.json', { ...vit, resample: 1e9 }],
  ['id2label', 'config.json', { id2label: 7 }],
  ['pad_token_id', 'config.json', { pad_token_id: 2 ** 53 }],
])('a model with a bad %s answers no pictures, and says so by the field', async (field, name, content) => {
  const model = `bad-${newId()}`;
  const text = typeof content === 'string' ? content : JSON.stringify(content);

  const served = await serveFolder(service, as, model, tiny, { [name]: text });
  const { status, json } = await ask(service, model, { images: files.slice(0, 1).map(base64) }, { as });

  expect(served.status, served.text).toBe(200);
  expect([status, json.error]).toEqual([400, expect.stringContaining(field)]);
});
