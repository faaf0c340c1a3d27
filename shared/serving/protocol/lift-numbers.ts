import { wasm } from './wasm.ts';

/** Numbers of a list; those for inputs of FP32 alone are rounded to float32. */
export type NumberList = Float32Array | Float64Array;

/** JSON without its lists of numbers: in their place it has their indices. */
interface LiftedJson {
  text: string;
  lists: readonly NumberList[];
}

/**
 * Take the lists of numbers under the key `data` out of JSON, nested or flat. `JSON.parse` makes a value for each number,
 * and collecting this garbage took longer than running the model. The loop over bytes is WebAssembly (numbers.wat): it reads
 * eight digits at a time, and the small heap of a quiet service does not slow it down.
 * @param isSingle whether all numbers are for float32
 * @returns undefined for whatever is unusual, such as texts, numbers that need more than these rules, and faults: `JSON.parse`
 *   decides those
 */
export function liftNumbers(bytes: Uint8Array, isSingle: boolean): LiftedJson | undefined {
  const lists: NumberList[] = [];
  let text = '';
  let from = 0;
  try {
    for (let at = bytes.indexOf(quote); at !== -1; at = bytes.indexOf(quote, at)) {
      const end = bytes.indexOf(quote, at + 1);
      if (end === -1) return undefined;
      const key = bytes.subarray(at + 1, end);
      // A text may end later than it seems.
      if (key.includes(backslash)) return undefined;
      at = end + 1;
      const colon = afterSpace(bytes, at);
      if (bytes[colon] !== 0x3a || latin1.decode(key) !== 'data') continue;
      const start = afterSpace(bytes, colon + 1);
      const list = bytes[start] === openList ? readList(bytes, start, isSingle) : undefined;
      if (list === undefined) return undefined;
      text += `${utf8.decode(bytes.subarray(from, start))}${lists.length}`;
      lists.push(list.values);
      from = list.end;
      at = from;
    }
    return lists.length === 0 ? undefined : { text: text + utf8.decode(bytes.subarray(from)), lists };
  } catch {
    // It is not UTF-8.
    return undefined;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const latin1 = new TextDecoder('latin1');

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openList = 0x5b;
const spaces: readonly (number | undefined)[] = [0x20, 0x09, 0x0a, 0x0d];

/** Return the position of the next byte that is no white space of JSON. */
function afterSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (spaces.includes(bytes[at])) at += 1;
  return at;
}

/** Exports of numbers.wat. */
interface Exports {
  memory: WebAssembly.Memory;
  depth: { value: number };
  state: { value: number };
  next: { value: number };
  /** Read numbers from one address to another. Return how many it wrote to the third one, or -1. */
  read(at: number, end: number, to: number, single: 0 | 1): number;
}

let compiled: Exports | undefined;

/** Addresses in bytes. A part of a text has fewer than half as many numbers as bytes. */
const addresses = { text: 256, results: 256 + 2 ** 16, part: 2 ** 16 - 64 } as const;

/** Compile numbers.wat at the first call. */
function reader(): Exports {
  if (compiled !== undefined) return compiled;
  compiled = new WebAssembly.Instance<Exports>(new WebAssembly.Module(Buffer.from(wasm, 'base64'))).exports;
  new Float64Array(compiled.memory.buffer, 0, 23).forEach((_, power, tens) => {
    tens[power] = Number(`1e${power}`);
  });
  return compiled;
}

/** Read the list that begins at a bracket, one part of its text at a time. */
function readList(
  bytes: Uint8Array,
  start: number,
  isSingle: boolean,
): { values: NumberList; end: number } | undefined {
  const { memory, depth, state, next, read } = reader();
  const room = new Uint8Array(memory.buffer);
  const parts: NumberList[] = [];
  // Behind the first bracket: a value, or the end of an empty list.
  depth.value = 1;
  state.value = 2;
  for (let at = start + 1; at < bytes.length; ) {
    const isRest = bytes.length - at <= addresses.part;
    // No number is cut in two.
    const end = isRest ? bytes.length : bytes.lastIndexOf(comma, at + addresses.part - 1) + 1;
    if (end <= at) return undefined;
    room.set(bytes.subarray(at, end), addresses.text);
    room.fill(0, addresses.text + end - at, addresses.text + end - at + 8);
    const count = read(addresses.text, addresses.text + end - at, addresses.results, isSingle ? 1 : 0);
    if (count === -1) return undefined;
    const Values = isSingle ? Float32Array : Float64Array;
    const values = new Values(memory.buffer, addresses.results, count);
    if (depth.value === 0) {
      const behind = at + next.value - addresses.text;
      return { values: joined([...parts, values], Values), end: behind };
    }
    parts.push(values.slice());
    at = end;
  }
  return undefined;
}

function joined(parts: readonly NumberList[], Values: typeof Float32Array | typeof Float64Array): NumberList {
  const all = new Values(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
