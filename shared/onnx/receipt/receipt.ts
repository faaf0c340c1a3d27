import * as z from 'zod';
import { DataUsed } from './data-used.ts';

/**
 * A result is useless if the relative error of an output is above `uselessError`, or agreement is below
 * `usefulAgreement`.
 */
export const uselessError = 0.2;
export const usefulAgreement = 0.9;

/** Choices of a set without labels, of fewer of which agreement is no measure of loss. */
export const fewestChoices = 32;

const count = z.int().nonnegative();
const change = <T extends z.ZodType>(measure: T) => z.object({ before: measure, after: measure });

/**
 * The change of a layer's weight; see `LayerChange`. Sparsity is the share of zeros. It is null if the zeros were
 * not counted.
 */
const Layer = z.object({
  layer: z.string(),
  operator: z.string(),
  weight: z.string(),
  parameters_before: count,
  parameters_after: count,
  nonzero_before: count.nullable(),
  nonzero_after: count.nullable(),
  sparsity_before: z.number().nullable(),
  sparsity_after: z.number().nullable(),
  /** ‖w′ − w‖ / ‖w‖; null if the shapes differ. */
  error: z.number().nullable(),
});

const Output = z.object({
  name: z.string(),
  /**
   * ‖after − before‖ / ‖before‖ over the samples of `compared_on`. Only values that are finite in the model count.
   * Null if the error is not defined; `why` gives the reason.
   */
  relative_l2_error: z.number().nullable(),
  largest_difference: z.number().nullable(),
  values: count,
  why: z.string().nullable(),
});

/** Result of a pruning; see `PruningOutcome`. */
const Pruning = z.object({
  strategy: z.string(),
  compression: z.number(),
  prunable_before: count,
  prunable_after: count,
  reached: z.number(),
  model_before: count,
  model_after: count,
  model_ratio: z.number(),
  groups: z.array(z.object({ layers: z.array(z.string()), channels_before: count, channels_after: count })),
});

const Latency = z.object({
  /** Milliseconds of one run, one thread. */
  p50: change(z.number()),
  p90: change(z.number()),
  /** Median over the blocks of the ratio time after / time before, and its bootstrap 95 % interval. */
  ratio: z.number(),
  ratio_interval: z.tuple([z.number(), z.number()]),
  /** The same ratio of the source model against itself. It shows how far from 1 a ratio may be by chance. */
  aa_ratio: z.number(),
  blocks: count,
  runs_per_block: count,
  shapes: z.record(z.string(), z.array(count)),
});

/** A layer that was checked alone because the model is too large to run as a whole. */
const CheckedLayer = z.object({
  layer: z.string(),
  relative_l2_error: z.number().nullable(),
  why: z.string().nullable(),
});

/** A candidate that `auto` measured. */
const Tried = z.object({
  name: z.string(),
  /** The requests of this candidate in the order of their application. */
  steps: z.array(z.record(z.string(), z.unknown())),
  file_bytes: count,
  /** Loss of accuracy. Without labels, of agreement, else the largest error of an output. Null if an output is broken. */
  loss: z.number().nullable(),
  error: z.number().nullable(),
  accuracy: z.number().nullable(),
  /** Time after / time before; null if the candidate was not timed. */
  latency_ratio: z.number().nullable(),
  /** Whether the loss is at most the one that the request allows. */
  holds: z.boolean(),
  /** Whether no other candidate is both smaller and loses less (Pareto front). */
  is_on_front: z.boolean(),
  is_chosen: z.boolean(),
});

/** The changes to a model and their effects. Every number in it was measured. */
export const Receipt = z.object({
  receipt_version: z.literal(1),
  summary: z
    .array(z.string())
    .default([])
    .describe(
      'Most important lines: a warning if the result is useless, and the time compared with the float model on the measuring processor.',
    ),
  is_useless: z
    .boolean()
    .default(false)
    .describe(
      `Whether the relative error of an output is above ${uselessError}, or agreement below ${usefulAgreement}, on a given set.`,
    ),
  operation: z.enum(['prune', 'quantize']),
  strategy: z.string(),
  /** The request with every default filled in. */
  request: z.record(z.string(), z.unknown()),
  /** Bytes of all files of the model. */
  file_bytes: change(count),
  /** Size of the same files after gzip at `gzip_level`; null if it was not measured. */
  gzip_bytes: change(count).nullable(),
  gzip_level: count,
  /** Whether the gzip size was extrapolated from samples. */
  gzip_sampled: z.boolean().default(false),
  /** How thoroughly the result was measured. */
  measure: z.enum(['none', 'quick', 'full']).default('full'),
  /**
   * Number of values in all floating-point and quantized constants. Scales, zero points and shapes do not count.
   */
  parameters: change(count),
  nonzero_parameters: change(count),
  pruning: Pruning.nullable(),
  /** Count of each operator. Operators outside ONNX's own domain are named `domain.Operator`. */
  operators: change(z.record(z.string(), count)),
  opsets: change(z.record(z.string(), count)),
  layers: z.array(Layer),
  /** Number of layers that the list leaves out. */
  layers_omitted: count,
  kept: z.array(z.object({ what: z.string(), why: z.string() })),
  notes: z.array(z.string()),
  suggestions: z
    .array(z.string())
    .default([])
    .describe('Suggestions for a better result, most likely first.'),
  warnings: z.array(z.string()),
  /**
   * False if the model is too large for a session, in which case `checked_layers` replaces the outputs, or if
   * nothing was measured.
   */
  run_as_whole: z.boolean(),
  outputs: z.array(Output),
  checked_layers: z.array(CheckedLayer),
  compared_on: DataUsed.nullable().describe(
    'Data on which the errors of `outputs` were measured: the first samples of a set. `accuracy` has its own number of samples.',
  ),
  calibrated_on: DataUsed.nullable(),
  accuracy: z
    .object({
      ...change(z.number()).shape,
      samples: count,
      output: z.string(),
      difference_interval: z
        .tuple([z.number(), z.number()])
        .nullable()
        .default(null)
        .describe('95 % interval of after − before, paired by samples.'),
    })
    .nullable()
    .describe(
      "Share of the evaluation set's labels that were predicted correctly, over all `samples` with labels.",
    ),
  agreement: z
    .object({
      kind: z.enum(['classes', 'neighbours', 'ranks']).default('classes'),
      share: z.number(),
      choices: count,
      output: z.string(),
      mean_cosine: z.number().nullable().default(null),
    })
    .nullable()
    .default(null)
    .describe(
      'Share of samples of `compared_on` for which the result answers as the model does: `classes` that it chooses; `neighbours`, the same nearest neighbour among the vectors of the set, with the mean cosine of the vectors of both; `ranks`, Spearman\u2019s correlation of single scores. Null if the model has none of these.',
    ),
  latency: Latency.nullable(),
  latency_batch: Latency.nullable()
    .default(null)
    .describe('The same with a batch that saturates the processor, if the model supports batches.'),
  candidates: z.array(Tried).default([]).describe('Candidates that `auto` measured, smallest first.'),
  /** Layers that `max_error` excluded, most sensitive first, each with the output error it causes alone. */
  excluded_by_error: z.array(z.object({ layer: z.string(), error: z.number().nullable() })),
  stages: z.array(
    z.object({ name: z.string(), seconds: z.number().nonnegative(), peak_memory_bytes: count }),
  ),
  onnx_runtime: z.object({
    /** Version that measured the result. */
    measured_with: z.string(),
    /** Lowest version known to run the result. */
    needed: z.string(),
  }),
  seeds: z.record(z.string(), count),
  hardware: z.object({
    processor: z.string(),
    architecture: z.string(),
    /** Instruction sets that affect the measurements. */
    flags: z.array(z.string()),
    threads: count,
  }),
});
export type Receipt = z.output<typeof Receipt>;

/** Whether a result has more bytes than its model. */
export const isLarger = ({ file_bytes: { before, after } }: Pick<Receipt, 'file_bytes'>): boolean =>
  after > before;
