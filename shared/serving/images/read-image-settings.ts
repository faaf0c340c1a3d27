import * as z from 'zod';
import { type ImageSettings, imageFilters } from '../../data/models/image-settings.ts';
import { activationOf, ModelConfig } from '../protocol/model-config.ts';
import {
  type ModelTensors,
  namesOfOutputs,
  type ReadSettings,
  type SettingsFiles,
  SettingsReader,
} from '../protocol/settings-files.ts';
import { type Processor, processorOf } from './processors.ts';

/**
 * Read from `preprocessor_config.json` and `config.json` how a model answers pictures: the steps of its image processor in
 * `transformers`, and what its output is. What this service cannot do is a fault that names the field.
 */
export function readImageSettings(files: SettingsFiles, tensors: ModelTensors): ReadSettings<ImageSettings> {
  const reader = new SettingsReader(files);
  const { faults } = reader;
  const config = reader.read('config.json', ModelConfig, {});
  const stated = reader.read('preprocessor_config.json', Stated, {});
  const name = stated.image_processor_type ?? stated.feature_extractor_type ?? undefined;
  const processor = processorOf(name, config.model_type ?? undefined);
  if (processor === undefined) {
    const fault = name === undefined ? 'is missing' : `${JSON.stringify(name)} is not supported`;
    faults.push(`preprocessor_config.json: image_processor_type ${fault}`);
    return reader.fault;
  }
  const steps = stepsOf(stated, processor, (field, fault) =>
    faults.push(`preprocessor_config.json: ${field} ${fault}`),
  );
  const input = inputOf(tensors, steps, faults);
  const output = outputOf(config, tensors);
  if (output === undefined)
    faults.push(`none of its outputs has classes or a vector for each picture: ${namesOfOutputs(tensors)}`);
  if (faults.length > 0 || output === undefined) return reader.fault;
  const labels = Object.keys(config.id2label ?? {}).length;
  const { task, width } = output;
  return {
    fault: null,
    settings: {
      task,
      input,
      output: output.name,
      ...steps,
      activation: activationOf(config, width ?? labels),
      width: width ?? (task === 'embedding' || labels === 0 ? null : labels),
    },
  };
}

const number = z.number();
const PerChannel = z.union([number, z.tuple([number, number, number])]).nullish();
const Size = z.union([number, z.tuple([number, number]), z.record(z.string(), z.number().nullable())]);

const Stated = z.looseObject({
  image_processor_type: z.string().max(200).nullish(),
  feature_extractor_type: z.string().max(200).nullish(),
  do_resize: z.boolean().nullish(),
  size: Size.nullish(),
  default_to_square: z.boolean().nullish(),
  resample: z.union([z.number(), z.string().max(100)]).nullish(),
  do_center_crop: z.boolean().nullish(),
  crop_size: Size.nullish(),
  crop_pct: number.nullish(),
  do_rescale: z.boolean().nullish(),
  rescale_factor: number.nullish(),
  rescale_offset: z.boolean().nullish(),
  do_normalize: z.boolean().nullish(),
  image_mean: PerChannel,
  image_std: PerChannel,
  include_top: z.boolean().nullish(),
  do_flip_channel_order: z.boolean().nullish(),
  data_format: z.string().max(100).nullish(),
});
type Stated = z.infer<typeof Stated>;

/** Steps that are read, and those that change nothing of a picture. */
const knownSteps = [
  'do_resize',
  'do_center_crop',
  'do_rescale',
  'do_normalize',
  'do_flip_channel_order',
  'do_convert_rgb',
  'do_reduce_labels',
];

type Steps = Pick<ImageSettings, 'resize' | 'filter' | 'crop' | 'scale' | 'offset' | 'is_bgr'>;
type Refuse = (field: string, fault: string) => void;

function stepsOf(stated: Stated, processor: Processor, refuse: Refuse): Steps {
  for (const [field, value] of Object.entries(stated)) {
    const isStep = field.startsWith('do_') && !knownSteps.includes(field);
    if (value === true && (isStep || field === 'use_square_size'))
      refuse(field.slice(0, 100), 'is not supported');
  }
  if (stated.data_format != null && !/first$/i.test(stated.data_format))
    refuse('data_format', `${JSON.stringify(stated.data_format)} is not supported, only channels_first`);
  const isSquare = stated.default_to_square ?? processor.isSquare;
  const size =
    (stated.do_resize ?? true) ? sizeOf('size', stated.size ?? processor.size, isSquare, refuse) : null;
  const hasCrop = stated.do_center_crop ?? processor.crop !== null;
  const crop = hasCrop ? sizeOf('crop_size', stated.crop_size ?? processor.crop ?? 224, true, refuse) : null;
  if (crop !== null && 'shortest' in crop) refuse('crop_size', 'must have height and width');
  const sides = crop === null || 'shortest' in crop ? null : crop;
  const resized = resizedBy(processor, size, sides, stated.crop_pct ?? 224 / 256, refuse);
  return {
    ...resized,
    filter: filterOf(stated.resample ?? processor.resample, refuse),
    ...affineOf(stated, processor, refuse),
    is_bgr: stated.do_flip_channel_order ?? processor.isBgr ?? false,
  };
}

type Resize = NonNullable<ImageSettings['resize']>;

function resizedBy(
  { rule }: Processor,
  size: Resize | null,
  crop: ImageSettings['crop'],
  share: number,
  refuse: Refuse,
): Pick<Steps, 'resize' | 'crop'> {
  if (rule === undefined || size === null) return { resize: size, crop };
  if (!('shortest' in size)) {
    if (rule === 'convnext') refuse('size', 'must have shortest_edge');
    return { resize: size, crop };
  }
  const { shortest } = size;
  if (rule === 'levit') return { resize: { shortest: Math.trunc((256 / 224) * shortest) }, crop };
  if (crop !== null)
    refuse('do_center_crop', 'is not supported for this type, which takes the middle by crop_pct');
  const square = { height: shortest, width: shortest };
  // Large pictures are squeezed instead, by this processor.
  if (shortest >= 384) return { resize: square, crop: null };
  if (!(share > 0.05 && share <= 1)) refuse('crop_pct', 'must be above 0.05 and at most 1');
  return { resize: { shortest: Math.trunc(shortest / share) }, crop: square };
}

/** Sides that models have; larger ones would take the memory of a request. */
const maxSide = 2_048;

function sizeOf(field: string, value: z.infer<typeof Size>, isSquare: boolean, refuse: Refuse): Resize {
  const stated = sidesOf(value, isSquare);
  for (const [key, side] of Object.entries(stated)) {
    const name = typeof value === 'object' && !Array.isArray(value) ? `${field}.${key}`.slice(0, 100) : field;
    if (!sizeFields.includes(key)) refuse(name, 'is not supported');
    else if (!Number.isInteger(side) || side < 1 || side > maxSide)
      refuse(name, `must be a whole number from 1 to ${maxSide}; it is ${side}`);
  }
  const { height, width, shortest_edge: shortest } = stated;
  const hasBoth = height !== undefined && width !== undefined;
  const hasSide = height !== undefined || width !== undefined;
  if (shortest === undefined ? !hasBoth : hasSide)
    refuse(field, 'must have height and width, or shortest_edge, and no others');
  return shortest === undefined ? { height: height ?? 1, width: width ?? 1 } : { shortest };
}

const sizeFields = ['height', 'width', 'shortest_edge'];

/** The numbers of a size by their names; those of null are left out. */
function sidesOf(value: z.infer<typeof Size>, isSquare: boolean): Readonly<Record<string, number>> {
  if (typeof value === 'number') return isSquare ? { height: value, width: value } : { shortest_edge: value };
  if (Array.isArray(value)) return { height: value[0], width: value[1] };
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, side]) => (side === null ? [] : [[key, side]])),
  );
}

function filterOf(value: number | string, refuse: Refuse): Steps['filter'] {
  const name = typeof value === 'number' ? imageFilters[value] : value.toLowerCase();
  const known = imageFilters.find((filter) => filter === name);
  if (known === undefined) refuse('resample', `${JSON.stringify(value)} is not supported`);
  return known ?? 'bilinear';
}

/** Beyond these, products are no numbers that a record holds, or that a model reads. */
const [leastNumber, mostNumber] = [1e-6, 1e6];
const usualNumbers = `from ${leastNumber} to ${mostNumber}`;
const isOutside = (value: number): boolean => !(value >= leastNumber && value <= mostNumber);

/** Join rescaling and normalization, of which both are a product and a sum. */
function affineOf(stated: Stated, processor: Processor, refuse: Refuse): Pick<Steps, 'scale' | 'offset'> {
  const channels = [0, 1, 2] as const;
  const perChannel = (value: number | readonly number[]) =>
    channels.map((channel) => (typeof value === 'number' ? value : (value[channel] ?? 0)));
  const means = perChannel(stated.image_mean ?? processor.mean);
  const deviations = perChannel(stated.image_std ?? processor.std);
  if (deviations.some(isOutside)) refuse('image_std', `must be ${usualNumbers}`);
  if (means.some((mean) => mean !== 0 && isOutside(Math.abs(mean))))
    refuse('image_mean', `must be 0, or ${usualNumbers}, with either sign`);
  const factor = (stated.do_rescale ?? true) ? (stated.rescale_factor ?? 1 / 255) : 1;
  if (isOutside(factor)) refuse('rescale_factor', `must be ${usualNumbers}`);
  const shift = (stated.rescale_offset ?? false) ? -1 : 0;
  const isNormalized = stated.do_normalize ?? processor.isNormalized ?? true;
  // EfficientNet divides once more.
  const isTwice = processor.isTwice === true && (stated.include_top ?? true);
  const divisors = deviations.map((deviation) => (isNormalized ? deviation : 1) * (isTwice ? deviation : 1));
  const three = (of: (channel: number) => number): [number, number, number] => [of(0), of(1), of(2)];
  const scale = three((channel) => factor / (divisors[channel] ?? 1));
  const offset = three(
    (channel) => (shift - (isNormalized ? (means[channel] ?? 0) : 0)) / (divisors[channel] ?? 1),
  );
  return { scale, offset };
}

function inputOf({ inputs }: ModelTensors, { resize, crop }: Steps, faults: string[]): string {
  const [input, ...others] = inputs;
  if (input === undefined || others.length > 0) {
    const names = inputs.map(({ name }) => name).join(', ');
    faults.push(`the model has the inputs ${names || '(none)'}; a picture is one`);
    return '';
  }
  const { name, type, shape } = input;
  const called = `the input ${JSON.stringify(name)}`;
  if (type !== 'float') faults.push(`${called} is of type ${type}, not float`);
  const [count, channels, ...sides] = shape ?? [];
  const isPicture =
    shape === null || (shape.length === 4 && (typeof channels !== 'number' || channels === 3));
  if (!isPicture) faults.push(`${called} has the shape [${shape.join(', ')}], not [1, 3, height, width]`);
  if (typeof count === 'number' && count !== 1)
    faults.push(`${called} takes ${count} pictures at once, not one`);
  const sent = crop ?? (resize !== null && 'height' in resize ? resize : null);
  const sideNames = ['height', 'width'] as const;
  for (const [axis, side] of isPicture ? sideNames.entries() : []) {
    const wanted = sides[axis];
    if (typeof wanted !== 'number' || wanted === sent?.[side]) continue;
    const field = crop === null ? 'size' : 'crop_size';
    const size = sent === null ? 'depends on the picture' : `is ${sent[side]}`;
    faults.push(`preprocessor_config.json: ${field}: the ${side} ${size}, but ${called} takes ${wanted}`);
  }
  return name;
}

/** Outputs with a vector for each picture, as exporters name them. */
const vectorNames = ['image_embeds', 'pooler_output', 'embedding'];

function outputOf({ architectures, id2label }: ModelConfig, { outputs }: ModelTensors) {
  const ranked = outputs.flatMap(({ name, type, shape }) => {
    const width = shape?.at(-1);
    if (shape?.length !== 2 || !type.startsWith('float')) return [];
    return [{ name, width: typeof width === 'number' ? width : null }];
  });
  const logits = ranked.find(({ name }) => name === 'logits');
  if (logits !== undefined) return { task: 'classification' as const, ...logits };
  const vector = ranked.find(({ name }) => vectorNames.includes(name));
  if (vector !== undefined) return { task: 'embedding' as const, ...vector };
  // A model with one output needs no name for it.
  const [only] = outputs.length === 1 ? ranked : [];
  const isClassifier = architectures?.[0]?.endsWith('ForImageClassification') ?? id2label != null;
  return only && { task: isClassifier ? ('classification' as const) : ('embedding' as const), ...only };
}
