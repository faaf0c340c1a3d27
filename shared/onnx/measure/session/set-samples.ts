import { ModelError } from '../../model/model-error.ts';
import { type NpzArray, NpzFile } from '../../model/npz/npz-file.ts';
import { elementCount } from '../../model/tensor/tensor.ts';
import { type FeedType, isFeedType, isFloatType, numbersOf, typedArray, typedView } from './feed-type.ts';
import { requireRequestedShapes } from './require-requested-shapes.ts';
import type { FedTensor } from './session.ts';
import type { FedInput, RequestedShapes } from './stage-task.ts';

/** Name of the array with the expected answers. */
export const labelsName = 'labels';

/** One sample of a data set. */
export interface Sample {
  feeds: Map<string, FedTensor>;
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
  type: FeedType;
  /** Dimensions of one sample. */
  dims: readonly number[];
  samples: number;
}

function typeOf({ name, header }: NpzArray): FeedType {
  if (!isFeedType(header.type))
    throw new ModelError(`The array ${JSON.stringify(name)} does not contain numbers.`);
  return header.type;
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

/** Convert values to the model's type without rounding: integers only from integers. */
function converted(column: Column, bytes: Uint8Array, { name, type }: FedInput): FedTensor {
  if (!isFeedType(type))
    throw new ModelError(`The input ${JSON.stringify(name)} is of type ${type}, not numeric.`);
  const values = typedView(column.type, bytes);
  if (column.type === type) return { type, dims: column.dims, values };
  if (isFloatType(column.type) && !isFloatType(type)) {
    throw new ModelError(
      `The array ${JSON.stringify(column.array.name)} contains ${column.type}, but the input ${JSON.stringify(name)} requires ${type}.`,
    );
  }
  return { type, dims: column.dims, values: typedArray(type, numbersOf(column.type, values)) };
}

function labelsColumn(array: NpzArray, samples: number): Column {
  const [first = 0, ...rest] = array.header.dims;
  const type = typeOf(array);
  if (isFloatType(type)) {
    throw new ModelError(
      `The array "${labelsName}" contains ${type}; labels must be integers, the indexes of classes.`,
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
    const parts = columns.map(({ column }) => column.array.parts(elementCount(column.dims)));
    const labelParts = label?.array.parts(elementCount(label.dims));
    for (let index = 0; index < Math.min(samples, most); index += 1) {
      const feeds = new Map<string, FedTensor>();
      for (const [at, { input, column }] of columns.entries()) {
        feeds.set(input.name, converted(column, await next(parts[at]), input));
      }
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

async function next(parts: AsyncGenerator<Uint8Array, void, undefined> | undefined): Promise<Uint8Array> {
  const part = await parts?.next();
  if (part === undefined || part.done === true) throw new ModelError('The data set ended too early.');
  return part.value;
}
