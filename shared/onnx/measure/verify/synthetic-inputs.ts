import type { FedInput } from '../session/stage-task.ts';

/** Sizes to try for unspecified dimensions, in this order. */
const sizes = [16, 32, 64, 128, 224, 256, 320, 512, 576, 640, 1024];

/** Variable axes of each input, by its name. */
export type OpenAxes = Readonly<Record<string, readonly number[]>>;

/**
 * Synthetic inputs of a model, most likely first. Image sizes must be divisible by the network's strides, and audio
 * must be as long as its window. For each size, also tries the other inputs with it, and as states of one sequence.
 * Then the same with zeros for whole numbers of unknown use: in a graph of one node, 1 is no index.
 */
export function syntheticInputShapes(inputs: readonly FedInput[], open: OpenAxes): FedInput[][] {
  const shaped = triedShapes(inputs, open);
  if (!inputs.some(isUnknownNumber)) return shaped;
  const zero = (input: FedInput): FedInput =>
    isUnknownNumber(input) ? { ...input, values: 'index', below: 1 } : input;
  return [...shaped, ...shaped.map((one) => one.map(zero))];
}

/** Whether an input takes whole numbers whose use is not known: no index into a constant table, and no mask. */
export const isUnknownNumber = ({ name, type, values }: FedInput): boolean =>
  values === 'one' && type.includes('int') && !/mask/i.test(name);

function triedShapes(inputs: readonly FedInput[], open: OpenAxes): FedInput[][] {
  const shaped = (sizeOf: (input: FedInput) => number): FedInput[] =>
    inputs.map((input) => {
      const axes = open[input.name] ?? [];
      return {
        ...input,
        dims: input.dims?.map((dim, axis) => (axes.includes(axis) ? sizeOf(input) : dim)) ?? null,
      };
    });
  const withOpen = inputs.filter(({ name }) => (open[name]?.length ?? 0) > 0);
  const [first] = withOpen;
  if (first === undefined) return [[...inputs]];
  const isOne = ({ name }: FedInput): boolean => name === first.name;
  return sizes.flatMap((size) => [
    shaped(() => size),
    ...(withOpen.length > 1 ? [shaped((input) => (isOne(input) ? size : 1))] : []),
  ]);
}
