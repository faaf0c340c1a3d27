import { isFloatType } from '../session/feed-type.ts';
import { type FedTensor, type OtherValue, tensorNumbers } from '../session/session.ts';
import type { Sample } from '../session/set-samples.ts';

type Labels = NonNullable<Sample['labels']>;
type Outputs = ReadonlyMap<string, FedTensor | OtherValue>;

const count = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);

/** The output and its class axis; `null` if the output is the class itself. */
export interface Reading {
  output: string;
  axis: number | null;
}

/** Whether dimensions are equal, ignoring dimensions of 1. */
const sameDims = (a: readonly number[], b: readonly number[]): boolean =>
  a.filter((dim) => dim !== 1).join() === b.filter((dim) => dim !== 1).join();

/** Return how to compare an output with labels of these dimensions; undefined if it does not fit. */
function readingOf(
  output: string,
  { type, dims }: FedTensor,
  labels: readonly number[],
): Reading | undefined {
  if (!isFloatType(type)) return sameDims(dims, labels) ? { output, axis: null } : undefined;
  const isClassAxis = (axis: number): boolean =>
    (dims[axis] ?? 0) > 1 && sameDims([...dims.slice(0, axis), ...dims.slice(axis + 1)], labels);
  const last = dims.length - 1;
  // Image outputs have their classes before height and width, even if sizes alone are ambiguous.
  const axis = (dims.length > 3 ? [1, last] : [last, 1]).find(
    (candidate) => candidate >= 0 && isClassAxis(candidate),
  );
  return axis === undefined ? undefined : { output, axis };
}

/**
 * Find the output to compare with the labels. It has an integer for each label, or a score for each class along
 * the last axis or, for segmentation, the second. Undefined if no output fits.
 */
export function labelReading(outputs: Outputs, labels: Labels): Reading | undefined {
  const tensors = [...outputs].flatMap(([name, value]) =>
    value.type === 'other' ? [] : [[name, value] as const],
  );
  const readings = tensors
    .map(([name, value]) => readingOf(name, value, labels.dims))
    .filter((one) => one !== undefined);
  return readings.find(({ axis }) => axis === null) ?? readings[0];
}

/** Return the predicted classes in the order of the labels. The first of equal scores wins; NaN among the scores chooses none (NaN). */
export function classesOf(value: FedTensor, axis: number | null): ArrayLike<number> {
  const numbers = tensorNumbers(value);
  if (axis === null) return numbers;
  const [outer, classes, inner] = [
    count(value.dims.slice(0, axis)),
    value.dims[axis] ?? 1,
    count(value.dims.slice(axis + 1)),
  ];
  const found = new Float64Array(outer * inner);
  for (let at = 0; at < found.length; at += 1) {
    const start = Math.floor(at / inner) * classes * inner + (at % inner);
    let best = 0;
    let most = numbers[start] ?? 0;
    let hasNaN = Number.isNaN(most);
    for (let one = 1; one < classes; one += 1) {
      const score = numbers[start + one * inner] ?? 0;
      if (score > most) [best, most] = [one, score];
      else if (Number.isNaN(score)) hasNaN = true;
    }
    found[at] = hasNaN ? Number.NaN : best;
  }
  return found;
}

/** Number of correct labels over any number of samples. */
export interface LabelScore {
  met: number;
  /** Number of labels that count. Negative labels do not. */
  of: number;
  /** Labels beyond the output's classes, and the largest one. They can never be correct. */
  beyond: number;
  largest: number;
  /** Number of classes of the output; null if the output is the class itself. */
  classes: number | null;
}

export const noLabels: LabelScore = { met: 0, of: 0, beyond: 0, largest: 0, classes: null };

export const addScores = (a: LabelScore, b: LabelScore): LabelScore => ({
  met: a.met + b.met,
  of: a.of + b.of,
  beyond: a.beyond + b.beyond,
  largest: Math.max(a.largest, b.largest),
  classes: b.classes ?? a.classes,
});

/** Count the correct labels of a sample. */
export function labelsMet(outputs: Outputs, labels: Labels, { output, axis }: Reading): LabelScore {
  const value = outputs.get(output);
  if (value === undefined || value.type === 'other') return noLabels;
  const found = classesOf(value, axis);
  const classes = axis === null ? null : (value.dims[axis] ?? 1);
  let [met, of, beyond, largest] = [0, 0, 0, 0];
  for (let at = 0; at < labels.numbers.length; at += 1) {
    const label = labels.numbers[at] ?? 0;
    if (label < 0) continue;
    of += 1;
    if (found[at] === label) met += 1;
    if (classes !== null && label >= classes) beyond += 1;
    if (label > largest) largest = label;
  }
  return { met, of, beyond, largest, classes };
}

/**
 * A note on labels beyond the output's classes; undefined if there are none. They are allowed: image data sets
 * mark ignored pixels by 255, and the accuracies before and after remain comparable.
 */
export function labelsWarning(
  { of, beyond, largest, classes }: LabelScore,
  { output }: Reading,
): string | undefined {
  if (beyond === 0 || classes === null) return undefined;
  return `${beyond} of ${of} labels, up to ${largest}, are outside the ${classes} classes (0 to ${classes - 1}) of the output ${JSON.stringify(output)}; they count as incorrect. Use negative labels for samples to ignore.`;
}
