import * as z from 'zod';
import { DataUsed } from '../../receipt/data-used.ts';
import { Receipt } from '../../receipt/receipt.ts';
import { FedInput, type StageKind } from './stage-task.ts';

const count = z.int().nonnegative();
const LayerChange = Receipt.shape.layers.element.omit({ sparsity_before: true, sparsity_after: true });

/**
 * Schemas of stage results. The supervisor validates with them. A stage itself does not load the receipt's
 * schemas.
 */
export const stageAnswers = {
  read: z.object({
    inputs: z.array(FedInput),
    outputs: z.array(z.string()),
    /** Whether an output is or may be a tensor. Sequences and maps cannot be compared. */
    has_tensor_output: z.boolean(),
    weight_bytes: count,
    parameters: count,
    nonzero_parameters: count,
    operators: z.record(z.string(), count),
    opsets: z.record(z.string(), count),
    files: z.array(z.string()),
    needs_runtime: z.string().nullable(),
    /** The opset that the model is upgraded to for the request; null for no upgrade. */
    raise_to: count.nullable(),
    /** Notes on the requested transformation. */
    notes: Receipt.shape.notes,
  }),
  calibrate: z.object({ data: DataUsed, notes: Receipt.shape.notes }),
  transform: z.object({
    files: z.array(z.string()),
    layers: z.array(LayerChange),
    kept: Receipt.shape.kept,
    notes: Receipt.shape.notes,
    warnings: Receipt.shape.warnings,
    pruning: Receipt.shape.pruning,
  }),
  /** The inputs that the model runs with; null if it runs with none. `why` has the reason. */
  probe: z.object({ inputs: z.array(FedInput).nullable(), why: z.string().nullable() }),
  raise: z.object({ files: z.array(z.string()) }),
  /** Whether the outputs of the trial are finite; absent without a trial that ran. */
  open: z.object({ is_finite: z.boolean().optional() }),
  compare: z.object({
    outputs: Receipt.shape.outputs,
    accuracy: Receipt.shape.accuracy,
    agreement: Receipt.shape.agreement,
    /** Data for the comparison of outputs. Labels may be counted on more data. */
    data: DataUsed,
    notes: Receipt.shape.notes,
    warnings: Receipt.shape.warnings,
    runtime: z.string(),
  }),
  time: Receipt.pick({ latency: true, latency_batch: true }),
  race: z.object({
    /** Median milliseconds of a run in each round. */
    rounds: z.array(z.object({ base: z.number().nullable(), file: z.number() })),
    runs_per_round: count,
    p50: z.object({ base: z.number().nullable(), file: z.number() }),
    p90: z.object({ base: z.number().nullable(), file: z.number() }),
    shapes: z.record(z.string(), z.array(count)),
  }),
  size: Receipt.pick({ file_bytes: true, gzip_bytes: true, gzip_level: true, gzip_sampled: true }),
  check: z.object({ layers: Receipt.shape.checked_layers, runtime: z.string() }),
} as const satisfies Record<StageKind, z.ZodType>;
export type StageAnswer<K extends StageKind> = z.output<(typeof stageAnswers)[K]>;
