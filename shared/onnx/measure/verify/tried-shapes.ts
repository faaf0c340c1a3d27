import type { FedInput } from '../session/stage-task.ts';

/** Sizes of dimensions that nothing fixes, in the order in which they are tried. */
const sizes = [16, 32, 64, 128, 224, 256, 320, 512, 576, 640, 1024];

/** Axes of each input whose size may be chosen, by its name. */
export type OpenAxes = Readonly<Record<string, readonly number[]>>;

/**
 * Made-up shapes of the inputs of a model, the likeliest first: pictures must be divisible by the strides of a network,
 * pieces of sound as long as its window. With each size the other inputs are tried so, too, and as states of one
 * sequence.
 */
export function triedShapes(inputs: readonly FedInput[], open: OpenAxes): FedInput[][] {
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
  const isOne = ({ name }: FedInput): boolean => name === first?.name;
  return sizes.flatMap((size) => [
    shaped(() => size),
    ...(withOpen.length > 1 ? [shaped((input) => (isOne(input) ? size : 1))] : []),
  ]);
}
