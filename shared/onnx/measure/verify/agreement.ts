import { isFloatType } from '../session/feed-type.ts';
import { type FedTensor, type OtherValue, tensorNumbers } from '../session/session.ts';
import { classesOf, type Reading } from './label-score.ts';

type Outputs = ReadonlyMap<string, FedTensor | OtherValue>;

/** Names of class scores in exported models. */
const namedScores = /logit|prob|score|class/i;
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
  const isShort = dims.length === 2 && (dims[last] ?? 0) < fewScores;
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

/** Counts how often two models choose the same class, with or without labels. */
export class Agreement {
  readonly #reading: Reading | undefined;
  #same = 0;
  #of = 0;

  /**
   * @param reading how labels are compared, if there are any; otherwise `first`, the outputs of a model, decides
   */
  constructor(reading: Reading | undefined, first: Outputs | undefined) {
    this.#reading = reading ?? (first && classReading(first));
  }

  add(before: Outputs, after: Outputs): void {
    if (this.#reading === undefined) return;
    const { output, axis } = this.#reading;
    const [was, is] = [before.get(output), after.get(output)];
    if (was === undefined || is === undefined || was.type === 'other' || is.type === 'other') return;
    // Lists of different lengths, for example from detectors, cannot be compared one by one.
    if (was.dims.join() !== is.dims.join()) return;
    const classes = classesOf(was, axis);
    this.#of += classes.length;
    const others = classesOf(is, axis);
    for (let at = 0; at < classes.length; at += 1) if (classes[at] === others[at]) this.#same += 1;
  }

  /** The share of equal choices; null if the model does not choose among classes. */
  result(): { share: number; choices: number; output: string } | null {
    if (this.#reading === undefined || this.#of === 0) return null;
    return { share: this.#same / this.#of, choices: this.#of, output: this.#reading.output };
  }
}
