import type { Receipt } from '../../receipt/receipt.ts';
import { isFloatType } from '../session/feed-type.ts';
import { type FedTensor, type FedTexts, type OtherValue, tensorNumbers } from '../session/session.ts';
import { exceedsShare } from './exceeds-share.ts';
import { classesOf, type Reading } from './label-score.ts';
import { KnownNeighbours, sameNeighbours } from './same-neighbours.ts';
import { maxSpearman, spearman } from './spearman.ts';

type Outputs = ReadonlyMap<string, FedTensor | OtherValue>;

/** Names of class scores in exported models. */
const namedScores = /logit|prob|score|class/i;
/** Names of vectors in exported models: those of a text or picture, and those of its tokens. */
const namedVectors = /embed|hidden|pool/i;
const namedScore = /logit|score/i;
/** Rows with fewer numbers than this are class scores. Embeddings usually have more. */
const fewScores = 64;
/** Rows of an output to check for being distributions. */
const maxRows = 16;

/** Whether the numbers along an axis are shares of 1, like the output of Softmax. */
function isDistribution(value: FedTensor, axis: number): boolean {
  const numbers = tensorNumbers(value);
  const classes = value.dims[axis] ?? 1;
  const inner = value.dims.slice(axis + 1).reduce((product, dim) => product * dim, 1);
  const rows = Math.min(maxRows, numbers.length / classes);
  for (let row = 0; row < rows; row += 1) {
    const start = Math.floor(row / inner) * classes * inner + (row % inner);
    let sum = 0;
    for (let one = 0; one < classes; one += 1) {
      const number = numbers[start + one * inner] ?? 0;
      if (!(number >= 0)) return false;
      sum += number;
    }
    if (Math.abs(sum - 1) > 0.01) return false;
  }
  return rows > 0;
}

function classAxis(name: string, value: FedTensor): number | undefined {
  const { dims } = value;
  const last = dims.length - 1;
  if (last < 1) return undefined;
  // Image outputs have their classes before height and width.
  const axes = (dims.length > 3 ? [1, last] : [last]).filter((axis) => (dims[axis] ?? 0) > 1);
  const known = axes.find((axis) => isDistribution(value, axis));
  if (known !== undefined) return known;
  const [axis] = axes;
  if (axis === undefined) return undefined;
  const isShort = dims.length === 2 && (dims[last] ?? 0) < fewScores && !namedVectors.test(name);
  return isShort || namedScores.test(name) ? axis : undefined;
}

/**
 * Find the classification output without labels: integers, or else scores. Undefined if no output is known to be
 * one: the largest number of an embedding means nothing.
 */
export function classReading(outputs: Outputs): Reading | undefined {
  const tensors = [...outputs].flatMap(([name, value]) =>
    value.type === 'other' ? [] : [[name, value] as const],
  );
  const whole = tensors.find(([, { type }]) => !isFloatType(type));
  if (whole !== undefined) return { output: whole[0], axis: null };
  for (const [output, value] of tensors) {
    const axis = classAxis(output, value);
    if (axis !== undefined) return { output, axis };
  }
  return undefined;
}

/** Find the output with a vector for each text or picture, else for each of its tokens. */
function vectorOutput(outputs: Outputs): string | undefined {
  const floats = [...outputs].flatMap(([name, value]) =>
    value.type !== 'other' && isFloatType(value.type) ? [[name, value.dims] as const] : [],
  );
  const named = floats.filter(([name]) => namedVectors.test(name));
  const vector =
    named.find(([name, dims]) => dims.length === 2 && /embed/i.test(name)) ??
    named.find(([, dims]) => dims.length === 3) ??
    floats.find(([, dims]) => dims.length === 2 && (dims[1] ?? 0) >= fewScores);
  return vector?.[0];
}

/** Find the output with one score for each pair of texts. */
function scoreOutput(outputs: Outputs): string | undefined {
  const score = [...outputs].find(
    ([name, value]) =>
      value.type !== 'other' &&
      isFloatType(value.type) &&
      namedScore.test(name) &&
      (value.dims.length === 1 || (value.dims.length === 2 && value.dims[1] === 1)),
  );
  return score?.[0];
}

type Measured = NonNullable<Receipt['agreement']>;

/** How two models are compared. */
type Kind =
  | { kind: 'classes'; reading: Reading }
  | { kind: 'neighbours'; output: string }
  | { kind: 'ranks'; output: string };

function kindOf(outputs: Outputs): Kind | undefined {
  const reading = classReading(outputs);
  if (reading !== undefined) return { kind: 'classes', reading };
  const score = scoreOutput(outputs);
  if (score !== undefined) return { kind: 'ranks', output: score };
  const vector = vectorOutput(outputs);
  return vector === undefined ? undefined : { kind: 'neighbours', output: vector };
}

/** Vectors of a model that are compared with each other: the time of it grows by their square. */
const maxVectors = 1_000;

/** Numbers of these vectors, so that wide ones take no more memory and time: fewer of them are compared. */
const maxNumbers = 2 ** 23;

/** Vectors or scores, of fewer of which neighbours and ranks say nothing. */
const fewest = 16;

/**
 * Measures how far two models answer the same, with or without labels: the class that both choose, the nearest neighbour of each
 * vector among all of the set, or the order of single scores.
 */
export class Agreement {
  readonly #how: Kind | undefined;
  #same = 0;
  #of = 0;
  /** Vectors or scores of both models, one after the other. */
  readonly #before: Float64Array[] = [];
  readonly #after: Float64Array[] = [];
  /** All vectors of the model, if they are known, and how many of the result's first ones lost their neighbour among them. */
  readonly #known: KnownNeighbours | undefined;
  #lost = 0;
  #looked = 0;

  /**
   * @param reading how labels are compared, if there are any; otherwise `first`, the outputs of a model, decides
   * @param all the model's outputs for all samples, if they are known
   */
  constructor(
    reading: Reading | undefined,
    first: Outputs | undefined,
    all: readonly Outputs[] | undefined = undefined,
  ) {
    this.#how = reading === undefined ? first && kindOf(first) : { kind: 'classes', reading };
    this.#known = this.#how?.kind === 'neighbours' ? knownNeighbours(this.#how.output, all) : undefined;
  }

  /** Add the outputs of a sample. Tokens that `mask` leaves out do not count. */
  add(before: Outputs, after: Outputs, mask?: FedTensor | FedTexts): void {
    if (this.#how === undefined) return;
    const output = this.#how.kind === 'classes' ? this.#how.reading.output : this.#how.output;
    const [was, is] = [before.get(output), after.get(output)];
    if (was === undefined || is === undefined || was.type === 'other' || is.type === 'other') return;
    // Lists of different lengths, for example from detectors, cannot be compared one by one.
    if (was.dims.join() !== is.dims.join()) return;
    const counts = maskOf(mask);
    if (this.#how.kind === 'classes') this.#addClasses(was, is, this.#how.reading.axis, counts);
    else {
      const room = roomFor(was) - this.#before.length;
      for (const row of rowsOf(was, counts, room)) this.#before.push(row);
      for (const row of rowsOf(is, counts, room)) this.#after.push(row);
    }
  }

  #addClasses(was: FedTensor, is: FedTensor, axis: number | null, counts: ArrayLike<number> | undefined) {
    const classes = classesOf(was, axis);
    const others = classesOf(is, axis);
    const isMasked = counts?.length === classes.length;
    for (let at = 0; at < classes.length; at += 1) {
      if (isMasked && counts[at] === 0) continue;
      this.#of += 1;
      if (classes[at] === others[at]) this.#same += 1;
    }
  }

  /** Choices, vectors or scores until now, and how many choices differ. */
  get choices(): number {
    return this.#of + this.#before.length;
  }
  get different(): number {
    return this.#of - this.#same;
  }

  /**
   * Whether the vectors or scores so far are enough to say that all of them will lose more than a share. Of vectors that is said
   * only if they lose several times as much in two ways: few of them have other neighbours than all, and those of the model have not
   * moved.
   */
  losesMore(share: number): boolean {
    const count = this.#after.length;
    if (count < fewestToEnd || !Number.isInteger(Math.log2(count))) return false;
    if (this.#how?.kind === 'ranks') return 1 - maxSpearman(this.#ranked(), count) > share;
    if (this.#known === undefined) return false;
    for (; this.#looked < count; this.#looked += 1)
      if (this.#known.isLost(this.#looked, this.#after[this.#looked] ?? new Float64Array())) this.#lost += 1;
    const least = timesToEnd * Math.max(share, leastShare);
    const lost = Math.round((1 - sameNeighbours(this.#before, this.#after).share) * count);
    return exceedsShare(this.#lost, count, least) && exceedsShare(lost, count, least);
  }

  #ranked(): number {
    return spearman(this.#before.map(firstOf), this.#after.map(firstOf));
  }

  /** The result; null if the model does nothing of these, or for too few samples. */
  result(): Measured | null {
    const how = this.#how;
    if (how?.kind === 'classes') {
      if (this.#of === 0) return null;
      const share = this.#same / this.#of;
      return { kind: 'classes', share, choices: this.#of, output: how.reading.output, mean_cosine: null };
    }
    if (how === undefined || this.#before.length < fewest) return null;
    const { kind, output } = how;
    const [before, after] = [this.#before, this.#after];
    const { share, cosine } =
      kind === 'ranks' ? { share: this.#ranked(), cosine: null } : sameNeighbours(before, after);
    if (Number.isNaN(share)) return null;
    return { kind, share, choices: before.length, output, mean_cosine: cosine };
  }
}

/** Vectors or scores, with fewer of which no comparison ends early. */
const fewestToEnd = 64;
/** A smaller share is lost by chance on few samples. */
const leastShare = 0.01;
/** Times this share that vectors lose if their comparison ends early. */
const timesToEnd = 5;

const firstOf = (row: Float64Array): number => row[0] ?? Number.NaN;

const maskOf = (mask: FedTensor | FedTexts | undefined): ArrayLike<number> | undefined =>
  mask === undefined || mask.type === 'string' ? undefined : tensorNumbers(mask);

/** Numbers of a row: a score, a vector, or the vector of each token. */
const widthOf = ({ dims: [, second = 1, third = second] }: FedTensor): number => third;

/** How many rows of an output are compared. */
const roomFor = (value: FedTensor): number => Math.min(maxVectors, Math.floor(maxNumbers / widthOf(value)));

/** The vectors of a model for all samples; undefined if they are not known, or are made of those of tokens. */
function knownNeighbours(output: string, all: readonly Outputs[] = []): KnownNeighbours | undefined {
  const rows: Float64Array[] = [];
  for (const outputs of all) {
    const value = outputs.get(output);
    if (value === undefined || value.type === 'other' || value.dims.length !== 2) return undefined;
    rows.push(...rowsOf(value, undefined, roomFor(value) - rows.length));
  }
  return rows.length < fewest ? undefined : new KnownNeighbours(rows);
}

/** The first rows of an output, at most `room`: each by itself, or the mean of its tokens. */
function rowsOf(value: FedTensor, counts: ArrayLike<number> | undefined, room: number): Float64Array[] {
  const numbers = tensorNumbers(value);
  const [rows = 0, second = 1, third] = value.dims;
  const tokens = third === undefined ? 1 : second;
  const width = widthOf(value);
  const isMasked = third !== undefined && counts?.length === rows * tokens;
  return Array.from({ length: Math.max(0, Math.min(rows, room)) }, (_, row) => {
    const sum = new Float64Array(width);
    for (let token = 0; token < tokens; token += 1) {
      if (isMasked && counts[row * tokens + token] === 0) continue;
      const start = (row * tokens + token) * width;
      for (let at = 0; at < width; at += 1) sum[at] = (sum[at] ?? 0) + (numbers[start + at] ?? 0);
    }
    return sum;
  });
}
