import { isFloatType } from '../session/feed-type.ts';
import { type FedTensor, type OtherValue, tensorNumbers } from '../session/session.ts';
import type { Sample } from '../session/set-samples.ts';

type Labels = NonNullable<Sample['labels']>;
type Outputs = ReadonlyMap<string, FedTensor | OtherValue>;

const count = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);

/** Where the classes of an output lie: `null` where the output is the class itself. */
interface Reading {
  output: string;
  axis: number | null;
}

/** Whether dimensions are the same but for those of 1. */
const sameDims = (a: readonly number[], b: readonly number[]): boolean =>
  a.filter((dim) => dim !== 1).join() === b.filter((dim) => dim !== 1).join();

/** How an output answers to labels of these dimensions; undefined where it cannot. */
function readingOf(
  output: string,
  { type, dims }: FedTensor,
  labels: readonly number[],
): Reading | undefined {
  if (!isFloatType(type)) return sameDims(dims, labels) ? { output, axis: null } : undefined;
  const isClassAxis = (axis: number): boolean =>
    (dims[axis] ?? 0) > 1 && sameDims([...dims.slice(0, axis), ...dims.slice(axis + 1)], labels);
  const last = dims.length - 1;
  // Pictures have their classes before height and width, also where sizes alone would not tell.
  const axis = (dims.length > 3 ? [1, last] : [last, 1]).find(
    (candidate) => candidate >= 0 && isClassAxis(candidate),
  );
  return axis === undefined ? undefined : { output, axis };
}

/**
 * Which output is judged by the labels, and how: a whole number for each label, or a score for each class along the
 * last axis or, as in segmentation, the second. Undefined where no output fits.
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

/** Classes that an output names, in the order of the labels; the first of equals. */
function classesOf(value: FedTensor, axis: number | null): ArrayLike<number> {
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
    for (let one = 1; one < classes; one += 1) {
      if ((numbers[start + one * inner] ?? 0) > (numbers[start + best * inner] ?? 0)) best = one;
    }
    found[at] = best;
  }
  return found;
}

/** Labels that were met, of those that are not negative: a negative one says that it does not count. */
export function labelsMet(
  outputs: Outputs,
  labels: Labels,
  { output, axis }: Reading,
): { met: number; of: number } {
  const value = outputs.get(output);
  if (value === undefined || value.type === 'other') return { met: 0, of: 0 };
  const classes = classesOf(value, axis);
  let [met, of] = [0, 0];
  for (let at = 0; at < labels.numbers.length; at += 1) {
    const label = labels.numbers[at] ?? 0;
    if (label < 0) continue;
    of += 1;
    if (classes[at] === label) met += 1;
  }
  return { met, of };
}
