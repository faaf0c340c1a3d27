import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeImage } from '../../../shared/serving/images/decode-image.ts';
import { imageValues } from '../../../shared/serving/images/image-values.ts';
import { readImageSettings } from '../../../shared/serving/images/read-image-settings.ts';

const folder = join(import.meta.dirname, '../../fixtures/images');

/** Settings as transformers 5.24 saves them, and some values of its processors with torchvision 0.29. */
const processors: Record<
  string,
  {
    settings: { image_std?: number[]; rescale_factor?: number; do_rescale?: boolean };
    pictures: Record<string, { shape: number[]; at: number[]; values: number[] }>;
  }
> = JSON.parse(readFileSync(join(folder, 'processors.json'), 'utf8'));

const classifier = (shape: (number | string)[] = ['b', 3, 'h', 'w']) => ({
  inputs: [{ name: 'pixel_values', type: 'float', shape }],
  outputs: [{ name: 'logits', type: 'float', shape: ['b', 3] }],
});

const read = (stated: object, config: object = {}, tensors = classifier()) =>
  readImageSettings(
    new Map([
      ['preprocessor_config.json', JSON.stringify(stated)],
      ['config.json', JSON.stringify(config)],
    ]),
    tensors,
  );

test.each(Object.entries(processors))(
  '%s gives the values of transformers',
  async (_, { settings, pictures }) => {
    const found = read(settings);
    if (found.settings === null) throw new Error(found.fault);
    // One or two of 256 steps, by which the resize of torchvision differs from that of Pillow.
    const step = found.settings.scale.reduce((most, scale) => Math.max(most, scale), 0);
    for (const [file, { shape, at, values }] of Object.entries(pictures)) {
      const made = imageValues(await decodeImage(readFileSync(join(folder, file))), found.settings);
      expect(made.shape).toEqual(shape);
      const differences = at.map((place, index) =>
        Math.abs((made.values[place] ?? Number.NaN) - (values[index] ?? 0)),
      );
      expect(Math.max(...differences)).toBeLessThan(2.01 * step);
      expect(differences.filter((difference) => difference > 0.01 * step).length).toBeLessThan(4);
    }
  },
);

const vit = { image_processor_type: 'ViTImageProcessor' };
test.each<[string, object, string]>([
  [
    'another processor',
    { image_processor_type: 'DonutImageProcessor' },
    'image_processor_type "DonutImageProcessor"',
  ],
  [
    'a processor of sound',
    { feature_extractor_type: 'Wav2Vec2FeatureExtractor' },
    'image_processor_type "Wav2Vec2',
  ],
  ['no processor', { size: 224 }, 'image_processor_type is missing'],
  [
    'a name that each object has',
    { image_processor_type: 'constructor' },
    'image_processor_type "constructor"',
  ],
  ['a step', { ...vit, do_pad: true }, 'do_pad is not supported'],
  ['a size', { ...vit, size: { longest_edge: 9 } }, 'size.longest_edge is not supported'],
  ['a huge size', { ...vit, size: 1e6 }, 'size must be a whole number from 1 to 2048; it is 1000000'],
  ['an order', { ...vit, data_format: 'channels_last' }, 'data_format "channels_last" is not supported'],
  ['a filter', { ...vit, resample: 9 }, 'resample 9 is not supported'],
  ['half a size', { ...vit, size: { height: 224 } }, 'size must have height and width'],
  [
    'the other half',
    { ...vit, crop_size: { width: 224 }, do_center_crop: true },
    'crop_size must have height',
  ],
  ['two sizes', { ...vit, size: { height: 224, width: 224, shortest_edge: 9 } }, 'size must have height'],
  ['no size', { ...vit, size: {} }, 'size must have height and width, or shortest_edge'],
  [
    'a size of nothing',
    { ...vit, size: { height: 0, width: 224 } },
    'size.height must be a whole number from 1',
  ],
  [
    'a size below nothing',
    { ...vit, size: [224, -1] },
    'size must be a whole number from 1 to 2048; it is -1',
  ],
  ['a broken size', { ...vit, size: { shortest_edge: 2.5 } }, 'size.shortest_edge must be a whole number'],
  ['a deviation', { ...vit, image_std: [1, 0, 1] }, 'image_std must be from 0.000001 to 1000000'],
  ['hardly a deviation', { ...vit, image_std: 1e-310 }, 'image_std must be from'],
  ['a huge deviation', { ...vit, image_std: [1, 1e300, 1] }, 'image_std must be from'],
  ['a negative deviation', { ...vit, image_std: -0.5 }, 'image_std must be from'],
  ['a mean of two channels', { ...vit, image_mean: [0.5, 0.5] }, 'preprocessor_config.json: image_mean'],
  ['a huge mean', { ...vit, image_mean: 1e200 }, 'image_mean must be 0, or from'],
  ['hardly a mean', { ...vit, image_mean: [1e-200, 0, 0] }, 'image_mean must be 0, or from'],
  ['a factor', { ...vit, rescale_factor: 1e-320 }, 'rescale_factor must be from'],
  ['a filter by a broken number', { ...vit, resample: 2.5 }, 'resample 2.5 is not supported'],
  ['a filter below nothing', { ...vit, resample: -1 }, 'resample -1 is not supported'],
  ['a type', { ...vit, do_resize: 'yes' }, 'do_resize'],
  [
    'what the model takes',
    { ...vit, size: 300 },
    'size: the height is 300, but the input "pixel_values" takes 224',
  ],
])('%s that is not supported is refused by its field', (_, stated, fault) => {
  expect(read(stated, {}, classifier(['b', 3, 224, 224])).fault).toContain(fault);
});

test('a file of an early version is read by the defaults of its class, or of the model', () => {
  const early = { feature_extractor_type: 'CLIPFeatureExtractor', size: 224, crop_size: 224, resample: 3 };

  expect(read(early).settings).toMatchObject({
    resize: { shortest: 224 },
    crop: { height: 224, width: 224 },
    filter: 'bicubic',
  });
  expect(read({}, { model_type: 'swin' }).settings).toMatchObject({ resize: { height: 224, width: 224 } });
});

test('a picture whose size the sender chooses is read by a model up to a bound', () => {
  const blank = (width: number, height: number) => ({
    width,
    height,
    data: new Uint8Array(3 * width * height),
  });
  const read = (width: number, height: number, resize: { shortest: number } | null) => {
    const values = {
      scale: [1, 1, 1] as [number, number, number],
      offset: [0, 0, 0] as [number, number, number],
    };
    return imageValues(blank(width, height), {
      ...{ ...values, resize, filter: 'nearest', crop: null, is_bgr: false },
    }).shape;
  };

  expect(read(1_024, 1_024, null)).toEqual([3, 1_024, 1_024]);
  expect(() => read(1_025, 1_024, null)).toThrow('becomes 1025 x 1024 pixels for this model');
  expect(read(800, 40, { shortest: 224 })).toEqual([3, 224, 4_480]);
  expect(() => read(4_000, 40, { shortest: 224 })).toThrow('becomes 22400 x 224 pixels for this model');
});
