import * as z from 'zod';
import { Receipt } from '../../receipt/receipt.ts';

const count = z.int().nonnegative();
const estimate = z.object({ value: z.number(), interval: z.tuple([z.number(), z.number()]) });
const share = z.number().nullable();

/** A file that was measured. */
const Measured = z.object({
  file: z.string(),
  /** Bytes of all files of the model. */
  bytes: count,
  accuracy: share,
  /** Milliseconds of one run on one thread. */
  p50_ms: z.number().nullable(),
  p90_ms: z.number().nullable(),
});

/** Result of `measure` for an ONNX file, usually against another one. */
export const Measurement = z.object({
  measurement_version: z.literal(1),
  /** Summary lines. */
  summary: z.array(z.string()),
  passed: z.boolean().describe('Whether every gate holds.'),
  gates: z.array(
    z.object({
      gate: z.string(),
      verdict: z.enum(['passed', 'failed', 'undecided', 'unmeasured']),
      holds: z.boolean(),
      measured: z.string(),
      allowed: z.string(),
    }),
  ),
  file: Measured,
  base: Measured.nullable(),
  /** Accuracy of the file minus that of the base, with its 95 % interval, paired by samples. */
  accuracy: z
    .object({
      difference: z.number(),
      difference_interval: z.tuple([z.number(), z.number()]),
      samples: count,
      output: z.string(),
    })
    .nullable(),
  agreement: Receipt.shape.agreement,
  outputs: Receipt.shape.outputs,
  is_useless: z.boolean(),
  /**
   * Time of the file divided by that of the base, and milliseconds of the file. One in 500 intervals misses the
   * true value.
   */
  latency: z
    .object({
      ratio: estimate.nullable(),
      file_ms: estimate,
      rounds: count,
      runs_per_round: count,
      shapes: z.record(z.string(), z.array(count)),
    })
    .nullable(),
  data: Receipt.shape.compared_on,
  warnings: z.array(z.string()),
  notes: z.array(z.string()),
  onnx_runtime: z.string(),
  hardware: Receipt.shape.hardware,
});
export type Measurement = z.output<typeof Measurement>;
