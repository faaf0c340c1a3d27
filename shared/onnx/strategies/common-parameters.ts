import { measures } from './measure.ts';
import type { Parameters } from './parameter.ts';

/** Return the parameters that every strategy has. `maxError` is the description of `max_error`. */
export const commonParameters = (maxError: string) =>
  ({
    exclude: {
      kind: 'names',
      description:
        'Names of nodes, or types of operators, to leave unchanged. An unknown name fails the job.',
      usage: 'Separated by commas, such as `Softmax,/head/MatMul`.',
    },
    max_error: {
      kind: 'positive',
      description: maxError,
      usage: 'A number above 0, such as `0.05` or `1e-3`.',
    },
    seed: {
      kind: 'integer',
      description: 'Seed of all random numbers.',
      usage: 'A whole number, such as `42`. Default: 0.',
      bounds: [0, 2 ** 32 - 1],
    },
    measure: {
      kind: 'text',
      description:
        'Measurements in the receipt: `none` measures only sizes; `quick` compares and times within seconds, and estimates the gzip size from samples of large files; `full` uses whole sets and files.',
      usage: 'One of `none`, `quick`, `full`.',
      values: measures,
      otherwise: 'quick',
      before: 'full',
    },
    keep_metadata: {
      kind: 'boolean',
      description:
        'Keep the documentation and metadata of nodes and values, such as the stack traces that exporters write.',
      usage: '`true` or `false`. Default: `false`.',
      otherwise: false,
      before: false,
    },
  }) as const satisfies Parameters;

/** Quantity that `auto` minimizes. */
export const goals = ['size', 'latency'] as const;

/** Parameters of `auto`, for both operations. */
export const searchParameters = {
  max_loss: {
    kind: 'positive',
    description:
      'With auto: the maximum loss, as a share of accuracy if there are labels; else of agreement with the model on a given set (classes, nearest neighbours or the order of scores); else as the relative L2 error of an output.',
    usage: 'A number, such as `0.05`. Default: 0.01.',
    before: null,
  },
  goal: {
    kind: 'text',
    description: 'With auto: minimize the size of the file or the time of a run.',
    usage: '`size` or `latency`.',
    values: goals,
    otherwise: 'size',
    before: 'size',
  },
} as const satisfies Parameters;
