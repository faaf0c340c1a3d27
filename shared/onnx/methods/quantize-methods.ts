import * as z from 'zod';
import { type Judged, judge, type MethodFault } from './judge.ts';
import { meanings } from './meanings.ts';
import { choice, exclude, maxError, names, seed } from './parameters.ts';
import { type QuantizeStrategy, type QuantType, quantizeStrategies } from './strategies.ts';

/** One row of the table. */
interface Row {
  strategy: QuantizeStrategy;
  precision: 4 | 8 | 16;
  /** The first one is the default. */
  quantTypes: readonly [QuantType, ...QuantType[]];
  /** Whether weights get a scale for each channel unless the request says; undefined where that is no question. */
  perChannel?: boolean;
  reduceRange?: boolean;
  /** Whether `leaf_node` may be true, be it without effect. */
  leafNode: boolean;
  /** Operators that are quantized only when asked for. */
  include?: readonly string[];
  meaning: string;
}

const signs = ['int8', 'uint8'] as const;
const staticRow = {
  precision: 8,
  // ONNX Runtime's CPU kernels fuse activations of uint8 where those of int8 stay apart: on x64 uint8 is much faster.
  quantTypes: ['uint8', 'int8'],
  perChannel: true,
  reduceRange: true,
  leafNode: true,
} as const;

const rows: readonly Row[] = [
  {
    strategy: 'dynamic',
    precision: 8,
    quantTypes: signs,
    perChannel: false,
    reduceRange: true,
    leafNode: true,
    include: ['Conv'],
    meaning:
      'Weights of MatMul, Gemm, LSTM and Attention in quant_type; activations are quantized while the model runs. leaf_node has no effect.',
  },
  {
    ...staticRow,
    strategy: 'static_minmax',
    meaning: 'Weights and activations with QDQ; the range of an activation is all that calibration shows.',
  },
  {
    ...staticRow,
    strategy: 'static_percentile',
    meaning: 'Weights and activations with QDQ; the range of an activation leaves out 0.001 % of its values.',
  },
  {
    ...staticRow,
    strategy: 'static_entropy',
    meaning: 'Weights and activations with QDQ; the range of an activation loses the least information.',
  },
  {
    strategy: 'weight_only',
    precision: 4,
    quantTypes: ['int4', 'uint4'],
    leafNode: true,
    meaning: 'Weights in blocks of 32; int4 is symmetric, uint4 asymmetric. leaf_node has no effect.',
  },
  {
    strategy: 'weight_only',
    precision: 8,
    quantTypes: signs,
    leafNode: true,
    meaning: 'Weights in blocks of 32; int8 is symmetric, uint8 asymmetric. leaf_node has no effect.',
  },
  {
    strategy: 'float16',
    precision: 16,
    quantTypes: ['float16'],
    leafNode: false,
    meaning: 'Weights and activations in half precision: half the file; gains of time need a GPU or ARM.',
  },
];

const list = (values: readonly (string | number)[]): string => values.join(' or ');
const rowsOf = (strategy: QuantizeStrategy): Row[] => rows.filter((row) => row.strategy === strategy);

/** What a strategy leaves open of precision, in words. */
function precisionMessage(strategy: QuantizeStrategy): string {
  const later = strategy.startsWith('static_') ? '; 16 bits are not offered yet' : '';
  return `must be ${list(rowsOf(strategy).map(({ precision }) => precision))} with ${strategy}${later}`;
}

function quantTypeMessage(strategy: QuantizeStrategy): string {
  const own = rowsOf(strategy);
  const each = own.map(({ precision, quantTypes: types }) => {
    const bits = own.length === 1 ? '' : ` of ${precision} bits`;
    return `${list(types)} with ${strategy}${bits}`;
  });
  return `must be ${each.join(', ')}`;
}

const includable = ({ strategy, include }: Row) =>
  include === undefined
    ? names.max(0, `must be empty with ${strategy}`)
    : z.array(z.enum(include, `takes ${list(include)}`)).max(include.length, 'names one twice');

const methodOf = (row: Row) =>
  z
    .strictObject({
      operation: z.literal('quantize').default('quantize'),
      strategy: z.literal(row.strategy),
      precision: z.literal(row.precision, precisionMessage(row.strategy)),
      quant_type: z
        .enum(row.quantTypes, quantTypeMessage(row.strategy))
        .default(row.quantTypes[0])
        .describe(meanings.quantType),
      leaf_node: choice(row.leafNode, false, `must be false with ${row.strategy}`).describe(
        meanings.leafNode,
      ),
      exclude,
      include: includable(row).default([]).describe(meanings.include),
      per_channel: choice(
        row.perChannel !== undefined,
        row.perChannel ?? false,
        `must be false with ${row.strategy}`,
      ).describe(meanings.perChannel),
      reduce_range: choice(row.reduceRange ?? false, false, `must be false with ${row.strategy}`).describe(
        meanings.reduceRange,
      ),
      max_error: maxError(meanings.maxErrorOfQuantization),
      seed,
    })
    .describe(row.meaning);

/**
 * Every quantization that can be asked for: what requests are judged by and what is published. They are made when they
 * are asked for, and not by whoever only imports this.
 */
export const quantizeMethods = () => rows.map(methodOf);

/** A quantization to be done, with every default filled in. */
export type QuantizeRequest = z.output<ReturnType<typeof methodOf>>;

/** The allowed combinations, in a sentence. */
export const allowedQuantization = rows
  .map(
    ({ strategy, precision, quantTypes: types }) =>
      `${strategy} with precision ${precision} and ${list(types)}`,
  )
  .join('; ');

const isQuantizeStrategy = (value: unknown): value is QuantizeStrategy =>
  quantizeStrategies.some((strategy) => strategy === value);

/** What each of these methods refuses: a fault that only some of them find goes away with the choice of another. */
function refusedByAll(methods: readonly Row[], values: Readonly<Record<string, unknown>>): MethodFault[] {
  const [first = [], ...others] = methods.map((row) => {
    const judged = judge(methodOf(row), { ...values, strategy: row.strategy });
    return 'faults' in judged ? judged.faults : [];
  });
  return first.filter(({ name }) => others.every((one) => one.some((fault) => fault.name === name)));
}

const oneOf = (values: readonly (string | number)[]): string =>
  `must be one of ${[...new Set(values)].join(', ')}`;

/** Judges what can be judged without a strategy. */
function judgeWithoutStrategy(values: Readonly<Record<string, unknown>>): MethodFault[] {
  const general: Readonly<Record<string, string>> = {
    precision: oneOf(rows.map(({ precision }) => precision).sort((one, other) => one - other)),
    quant_type: oneOf(rows.flatMap(({ quantTypes: types }) => types)),
  };
  return [
    { name: 'strategy', message: oneOf(quantizeStrategies) },
    ...refusedByAll(rows, values).map(({ name, message }) => ({ name, message: general[name] ?? message })),
  ];
}

/** Judges a request for a quantization: the request with its defaults, or everything that is wrong with it. */
export function judgeQuantization(values: Readonly<Record<string, unknown>>): Judged<QuantizeRequest> {
  const { strategy, precision } = values;
  if (!isQuantizeStrategy(strategy)) return { faults: judgeWithoutStrategy(values) };
  const own = rowsOf(strategy);
  const fitting = own.find((row) => row.precision === precision);
  if (fitting !== undefined) return judge(methodOf(fitting), values);
  return { faults: refusedByAll(own, values) };
}
