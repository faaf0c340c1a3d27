import { ModelError } from '../../model/model-error.ts';
import { type NpzArray, NpzFile } from '../../model/npz/npz-file.ts';
import { elementCount } from '../../model/tensor/tensor.ts';
import {
  type FeedType,
  isFeedType,
  isFloatType,
  kindText,
  numbersOf,
  typedArray,
  typedView,
} from './feed-type.ts';
import { requireRequestedShapes } from './require-requested-shapes.ts';
import type { FedTensor, FedTexts } from './session.ts';
import type { FedInput, RequestedShapes } from './stage-task.ts';

/** Name of the array with the expected answers. */
export const labelsName = 'labels';

/** One sample of a data set. */
export interface Sample {
  feeds: Map<string, FedTensor | FedTexts>;
  /** The labels; undefined if the set has none. */
  labels: { dims: readonly number[]; numbers: ArrayLike<number> } | undefined;
  /** Name of the array used for the only input, if it differs from the input's name. */
  otherName?: string | undefined;
}

const shapeText = (dims: readonly (number | null)[]): string =>
  `[${dims.map((dim) => dim ?? '?').join(', ')}]`;

/** An array of a set and its division into samples. */
interface Column {
  array: NpzArray;
  type: FeedType | 'string';
  /** Dimensions of one sample. */
  dims: readonly number[];
  samples: number;
}

function typeOf({ name, header: { type } }: NpzArray): FeedType | 'string' {
  if (type === 'string' || isFeedType(type)) return type;
  throw new ModelError(`The array ${JSON.stringify(name)} does not contain numbers.`);
}

/**
 * Divide an array into samples along its first axis. An array of the input's rank is cut into rows, as many per
 * sample as the model's batch size. An array with one more dimension contains whole inputs.
 */
function columnFor(input: FedInput, array: NpzArray): Column {
  const { dims } = array.header;
  const { declared } = input;
  const type = typeOf(array);
  const differs = () =>
    new ModelError(
      `The array ${JSON.stringify(array.name)} is ${shapeText(dims)}, which does not fit the input ${JSON.stringify(input.name)} ${shapeText(declared ?? [])}; the first axis must be the samples.`,
    );
  const [first = 0, ...rest] = dims;
  if (dims.length === 0) throw differs();
  if (declared !== null && dims.length === declared.length + 1) {
    if (rest.some((dim, axis) => declared[axis] !== null && declared[axis] !== dim)) throw differs();
    return { array, type, dims: rest, samples: first };
  }
  if (declared !== null) {
    const fits = rest.every((dim, axis) => declared[axis + 1] === null || declared[axis + 1] === dim);
    if (dims.length !== declared.length || !fits) throw differs();
  }
  const rows = Math.max(1, declared?.[0] ?? 1);
  return { array, type, dims: [rows, ...rest], samples: Math.floor(first / rows) };
}

function arrayFor(
  input: FedInput,
  inputs: readonly FedInput[],
  arrays: ReadonlyMap<string, NpzArray>,
): NpzArray {
  const named = arrays.get(input.name);
  if (named !== undefined) return named;
  const others = [...arrays.values()].filter(({ name }) => name !== labelsName);
  const [only] = others;
  if (inputs.length === 1 && others.length === 1 && only !== undefined) return only;
  const names = [...arrays.keys()].map((name) => JSON.stringify(name)).join(', ');
  throw new ModelError(
    `The data set has no array for the input ${JSON.stringify(input.name)}; it has ${names}.`,
  );
}

/** Read one sample of a column. Convert numbers to the model's type without rounding: integers only from integers. */
async function* tensorsOf(
  column: Column,
  { name, type }: FedInput,
): AsyncGenerator<FedTensor | FedTexts, void, undefined> {
  const { array, dims } = column;
  const elements = elementCount(dims);
  if (type === 'string' && column.type === type) {
    for await (const values of array.texts(elements)) yield { type, dims, values };
    return;
  }
  const isFed = isFeedType(type);
  if (!isFed && type !== 'string')
    throw new ModelError(`The input ${JSON.stringify(name)} is ${kindText(type)}, which no set can hold.`);
  const { type: given } = column;
  if (!isFed || given === 'string' || (isFloatType(given) && !isFloatType(type))) {
    const has = given === 'string' ? 'texts' : given;
    throw new ModelError(
      `The array ${JSON.stringify(array.name)} contains ${has}, but the input ${JSON.stringify(name)} requires ${isFed ? type : 'texts'}.`,
    );
  }
  for await (const bytes of array.parts(elements)) {
    const values = typedView(given, bytes);
    yield { type, dims, values: given === type ? values : typedArray(type, numbersOf(given, values)) };
  }
}

function labelsColumn(array: NpzArray, samples: number): Column & { type: FeedType } {
  const [first = 0, ...rest] = array.header.dims;
  const type = typeOf(array);
  if (type === 'string' || isFloatType(type)) {
    throw new ModelError(
      `The array "${labelsName}" contains ${type === 'string' ? 'texts' : type}; labels must be integers, the indexes of classes.`,
    );
  }
  const rows = samples === 0 ? 0 : first / samples;
  if (!Number.isInteger(rows) || rows === 0) {
    throw new ModelError(`The array "${labelsName}" has ${first} rows for ${samples} samples.`);
  }
  return { array, type, dims: [rows, ...rest], samples };
}

/**
 * Read a data set sample by sample, at most `most` samples.
 *
 * @throws ModelError if its arrays do not fit the model's inputs, one another, or the requested shapes
 */
export async function* setSamples(
  path: string,
  inputs: readonly FedInput[],
  most: number,
  asked?: RequestedShapes,
): AsyncGenerator<Sample, void, undefined> {
  const file = await NpzFile.open(path);
  try {
    const columns = inputs.map((input) => ({
      input,
      column: columnFor(input, arrayFor(input, inputs, file.arrays)),
    }));
    requireRequestedShapes(
      'inputs',
      asked,
      columns.map(({ input, column }) => [input.name, column.dims]),
    );
    const samples = Math.min(...columns.map(({ column }) => column.samples));
    const odd = columns.find(({ column }) => column.samples !== samples);
    if (odd !== undefined) {
      const [name, count] = [odd.column.array.name, odd.column.samples];
      throw new ModelError(
        `The array ${JSON.stringify(name)} has ${count} samples, but another array has ${samples}.`,
      );
    }
    if (samples === 0 || columns.length === 0)
      throw new ModelError('The data set has no sample for this model.');
    const labels = file.arrays.get(labelsName);
    const label = labels && labelsColumn(labels, samples);
    const [only] = columns;
    const otherName = only?.column.array.name === only?.input.name ? undefined : only?.column.array.name;
    const parts = columns.map(({ column, input }) => tensorsOf(column, input));
    const labelParts = label?.array.parts(elementCount(label.dims));
    for (let index = 0; index < Math.min(samples, most); index += 1) {
      const feeds = new Map<string, FedTensor | FedTexts>();
      for (const [at, { input }] of columns.entries()) feeds.set(input.name, await next(parts[at]));
      const bytes = labelParts && (await next(labelParts));
      yield {
        feeds,
        otherName,
        labels: label &&
          bytes && { dims: label.dims, numbers: numbersOf(label.type, typedView(label.type, bytes)) },
      };
    }
    for (const part of [...parts, labelParts]) await part?.return();
  } finally {
    await file.close();
  }
}

async function next<T>(parts: AsyncGenerator<T, void, undefined> | undefined): Promise<T> {
  const part = await parts?.next();
  if (part === undefined || part.done === true) throw new ModelError('The data set ended too early.');
  return part.value;
}
