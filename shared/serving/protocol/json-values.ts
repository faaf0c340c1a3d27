import { type Datatype, packBytes } from './datatypes.ts';
import type { NumberList } from './lift-numbers.ts';

/**
 * Read values as JSON, nested or flat, in row-major order. Report the fault of the first wrong one.
 * @param place name of the list in faults
 * @param count values that the shape states; undefined if no shape can be read
 */
export function readData(
  place: string,
  given: unknown,
  datatype: Datatype,
  count: number | undefined,
  fault: (name: string, message: string) => void,
): Uint8Array | undefined {
  const isLifted = given instanceof Float32Array || given instanceof Float64Array;
  const plain = isLifted && given.length === count ? numbersOf(given, datatype) : undefined;
  if (plain !== undefined) return plain;
  // A tensor without values needs no list of them.
  const data: unknown = isLifted ? Array.from(given) : count === 0 ? (given ?? []) : given;
  if (!Array.isArray(data)) {
    fault(place, 'must be a list of the values, or parameters.binary_data_size must be given');
    return undefined;
  }
  const values: unknown[] = data.some((one) => Array.isArray(one))
    ? data.flat(Number.POSITIVE_INFINITY)
    : data;
  const hasCount = count === undefined || values.length === count;
  if (!hasCount) fault(place, `must have ${count} values, as the shape says; it has ${values.length}`);
  const { isValue, is, store } = writers[datatype];
  const bad = values.findIndex((value) => !isValue(value));
  if (bad >= 0) {
    fault(`${place}[${bad}]`, `must be ${is}; it is ${JSON.stringify(String(values[bad]).slice(0, 80))}`);
    return undefined;
  }
  return hasCount ? store(values) : undefined;
}

/** Store numbers in one pass, which is most of all requests; undefined if the type does not hold each of them. */
function numbersOf(numbers: NumberList, datatype: Datatype): Uint8Array | undefined {
  const { Values } = writers[datatype];
  if (Values === undefined) return undefined;
  const stored = numbers instanceof Values ? numbers : new Values(numbers);
  // Whole numbers of another size or sign, and fractions, become other numbers.
  if (!datatype.startsWith('FP') && numbers.some((value, at) => stored[at] !== value)) return undefined;
  return new Uint8Array(stored.buffer, stored.byteOffset, stored.byteLength);
}

/** Typed array of numbers. */
type NumberArray = new (values: ArrayLike<number>) => ArrayLike<number> & ArrayBufferView<ArrayBuffer>;

interface Writer {
  isValue(value: unknown): boolean;
  is: string;
  store(values: readonly unknown[]): Uint8Array;
  /** Stores numbers that are known to be such; undefined if the type has other values, or rules of its own. */
  Values?: NumberArray;
}

const bytesOf = ({ buffer }: { buffer: ArrayBuffer }): Uint8Array => new Uint8Array(buffer);

const numbers = (isValue: (value: unknown) => boolean, is: string, Values: NumberArray): Writer => ({
  isValue,
  is,
  store: (values) => bytesOf(new Values(values.map(Number))),
  Values,
});

const whole = (least: number, most: number, Values: NumberArray): Writer =>
  numbers(
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
    `a whole number from ${least} to ${most}`,
    Values,
  );

const big = (least: bigint, most: bigint, make: (values: bigint[]) => { buffer: ArrayBuffer }): Writer => ({
  isValue: (value) =>
    (typeof value === 'bigint' || Number.isInteger(value)) &&
    BigInt(value as bigint | number) >= least &&
    BigInt(value as bigint | number) <= most,
  is: `a whole number from ${least} to ${most}`,
  store: (values) => bytesOf(make(values.map((value) => BigInt(value as bigint | number)))),
});

const isNumber = (value: unknown): boolean => typeof value === 'number' || typeof value === 'bigint';

const writers: Readonly<Record<Datatype, Writer>> = {
  BOOL: {
    isValue: (value) => typeof value === 'boolean' || value === 0 || value === 1,
    is: 'true or false',
    store: (values) => Uint8Array.from(values, Number),
  },
  UINT8: whole(0, 2 ** 8 - 1, Uint8Array),
  UINT16: whole(0, 2 ** 16 - 1, Uint16Array),
  UINT32: whole(0, 2 ** 32 - 1, Uint32Array),
  UINT64: big(0n, 2n ** 64n - 1n, (values) => BigUint64Array.from(values)),
  INT8: whole(-(2 ** 7), 2 ** 7 - 1, Int8Array),
  INT16: whole(-(2 ** 15), 2 ** 15 - 1, Int16Array),
  INT32: whole(-(2 ** 31), 2 ** 31 - 1, Int32Array),
  INT64: big(-(2n ** 63n), 2n ** 63n - 1n, (values) => BigInt64Array.from(values)),
  FP16: numbers(isNumber, 'a number', Float16Array),
  FP32: numbers(isNumber, 'a number', Float32Array),
  FP64: numbers(isNumber, 'a number', Float64Array),
  BYTES: {
    // ONNX Runtime would cut a string at U+0000.
    isValue: (value) => typeof value === 'string' && value.isWellFormed() && !value.includes('\0'),
    is: 'a string without U+0000 and without lone surrogates',
    store: (values) => packBytes(values.map((value) => Buffer.from(String(value)))),
  },
};
