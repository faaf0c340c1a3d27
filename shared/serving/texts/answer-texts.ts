import type { TextSettings } from '../../data/models/text-settings.ts';
import {
  bestOf,
  labelOf,
  labelTensors,
  type Numbers,
  numbersTensor,
  scoresOf,
  stringsTensor,
  tensor,
} from '../protocol/answer-tensors.ts';
import type { RawTensor } from '../protocol/datatypes.ts';
import { requireTime } from '../protocol/request-time.ts';
import type { Encoding, TextTokenizer } from './text-tokenizer.ts';

/** What answers texts: a model with its tokenizer. */
export interface TextModel {
  settings: TextSettings;
  tokenizer: TextTokenizer;
  labels: readonly string[];
  /** Inputs of the model. */
  inputs: readonly string[];
  /** Run the model on whole numbers of the shape `[rows, length]`, by the name of the input. */
  run(feeds: ReadonlyMap<string, readonly number[]>, shape: readonly [number, number]): Promise<Numbers>;
}

/** Name of the tensor with the indices of texts that were cut. */
const cutName = 'cut';

/**
 * Answer texts, or pairs of texts, by tensors: `embedding`; `label` and `scores`; or `token`, `label` and `score` of each token.
 * Texts run together with others of about their length, so that each run takes a bounded amount of memory.
 */
export async function answerTexts(
  model: TextModel,
  texts: readonly string[],
  seconds: readonly string[] | undefined,
): Promise<RawTensor[]> {
  const { settings, tokenizer } = model;
  const prepare = (text: string) => (settings.lowercase ? text.toLowerCase() : text);
  const started = performance.now();
  const encodings = texts.map((text, index) => {
    requireTime(started, () => `${index} of ${texts.length} texts were tokenized`);
    return tokenizer.encode(prepare(settings.prompt + text), seconds?.[index], settings.max_tokens);
  });
  const rows: Float32Array[] = [];
  const places = encodings.map((encoding, index) => ({ encoding, index }));
  let done = 0;
  for (const group of groupsOf(places)) {
    requireTime(started, () => `${done} of ${texts.length} texts were answered`);
    done += group.length;
    const numbers = await runGroup(
      model,
      group.map(({ encoding }) => encoding),
    );
    const size = numbers.values.length / group.length;
    for (const [place, { encoding, index }] of group.entries()) {
      const row = numbers.values.subarray(place * size, (place + 1) * size);
      rows[index] = answerOf(settings, row, numbers.shape, encoding);
    }
  }
  const cut = Int32Array.from(encodings.flatMap(({ isCut }, index) => (isCut ? [index] : [])));
  return [...tensorsOf(model, rows, encodings), tensor(cutName, 'INT32', [cut.length], cut)];
}

/** Tokens of a run, with those that fill short texts. One longer text runs alone. */
const maxGroupTokens = 512;

interface Place {
  encoding: Encoding;
  index: number;
}

function groupsOf(places: readonly Place[]): Place[][] {
  const groups: Place[][] = [];
  const lengthOf = ({ encoding }: Place) => encoding.ids.length;
  for (const text of places.toSorted((a, b) => lengthOf(a) - lengthOf(b))) {
    const last = groups.at(-1);
    // The order is by length, so this text is the longest of its group.
    if (last !== undefined && (last.length + 1) * lengthOf(text) <= maxGroupTokens) last.push(text);
    else groups.push([text]);
  }
  return groups;
}

async function runGroup(
  { settings: { padding }, tokenizer, inputs, run }: TextModel,
  group: readonly Encoding[],
): Promise<Numbers> {
  // A model has no answer to no tokens, which is what an empty text is to some tokenizers.
  const length = group.reduce((most, { ids }) => Math.max(most, ids.length), 1);
  const filler = (padding.token === null ? undefined : tokenizer.idOf(padding.token)) ?? padding.id;
  const filled = (valuesOf: (encoding: Encoding) => readonly number[], rest: number) =>
    group.flatMap((encoding) => {
      const values = valuesOf(encoding);
      return [...values, ...Array<number>(length - values.length).fill(rest)];
    });
  const feeds = new Map([
    ['input_ids', filled(({ ids }) => ids, filler)],
    ['attention_mask', filled(({ ids }) => ids.map(() => 1), 0)],
    ['token_type_ids', filled(({ types }) => types, 0)],
    ['position_ids', filled(({ ids }) => ids.map((_, index) => index), 0)],
  ]);
  const feedsOfModel = new Map([...feeds].filter(([name]) => inputs.includes(name)));
  const numbers = await run(feedsOfModel, [group.length, length]);
  if (numbers.shape[0] !== group.length)
    throw new Error(`the output has the shape [${numbers.shape.join(', ')}] for ${group.length} texts`);
  return numbers;
}

/** The answer to one text: its vector, its scores, or those of its tokens one after the other. */
function answerOf(
  settings: TextSettings,
  row: Float32Array,
  shape: readonly number[],
  { ids, own }: Encoding,
): Float32Array {
  const width = shape.at(-1) ?? 0;
  if (settings.task === 'classification') return scoresOf(settings.activation, row);
  if (settings.task === 'embedding') {
    const vector = shape.length === 3 ? pooled(settings, row, width, ids.length) : row.slice();
    return settings.normalize ? normalized(vector) : vector;
  }
  const scores = own.flatMap((at) => [
    ...scoresOf(settings.activation, row.subarray(at * width, (at + 1) * width)),
  ]);
  return Float32Array.from(scores);
}

/** Join the vectors of the tokens, special ones included, as sentence-transformers does. */
function pooled({ pooling }: TextSettings, row: Float32Array, width: number, count: number): Float32Array {
  const vectorAt = (at: number) => row.subarray(at * width, (at + 1) * width);
  if (pooling === 'cls' || count === 0) return vectorAt(0).slice();
  if (pooling === 'lasttoken') return vectorAt(count - 1).slice();
  const sums = new Float64Array(width).fill(pooling === 'max' ? Number.NEGATIVE_INFINITY : 0);
  let weights = 0;
  for (let at = 0; at < count; at += 1) {
    const weight = pooling === 'weightedmean' ? at + 1 : 1;
    weights += weight;
    for (let column = 0; column < width; column += 1) {
      const value = row[at * width + column] ?? 0;
      const sum = sums[column] ?? 0;
      sums[column] = pooling === 'max' ? Math.max(sum, value) : sum + weight * value;
    }
  }
  if (pooling === 'max') return Float32Array.from(sums);
  const divisor = pooling === 'mean_sqrt_len_tokens' ? Math.sqrt(weights) : weights;
  return Float32Array.from(sums, (sum) => sum / divisor);
}

function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / Math.max(length, 1e-12));
}

function tensorsOf(
  { settings, tokenizer, labels }: TextModel,
  rows: readonly Float32Array[],
  encodings: readonly Encoding[],
): RawTensor[] {
  if (settings.task === 'embedding') return [numbersTensor('embedding', rows)];
  if (settings.task === 'classification') return labelTensors(rows, labels);
  const most = encodings.reduce((longest, { own }) => Math.max(longest, own.length), 0);
  const tokens: string[] = [];
  const names: string[] = [];
  const scores = new Float32Array(rows.length * most);
  for (const [index, { ids, own }] of encodings.entries()) {
    const row = rows[index] ?? new Float32Array();
    const width = own.length === 0 ? 0 : row.length / own.length;
    for (let column = 0; column < most; column += 1) {
      const at = own[column];
      const values = row.subarray(column * width, (column + 1) * width);
      const best = at === undefined ? -1 : bestOf(values);
      tokens.push(at === undefined ? '' : tokenizer.tokenOf(ids[at] ?? -1));
      names.push(best === -1 ? '' : labelOf(labels, best));
      scores[index * most + column] = values[best] ?? 0;
    }
  }
  const shape = [rows.length, most];
  return [
    stringsTensor('token', shape, tokens),
    stringsTensor('label', shape, names),
    tensor('score', 'FP32', shape, scores),
  ];
}
