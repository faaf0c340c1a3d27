import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Ulid } from '../core/formats.ts';
import { findArtifact } from '../data/experiments/artifact.ts';
import { JobStatus } from '../data/jobs/job-status.ts';
import { SweepStatus, TrialParams } from '../data/sweeps/sweep.ts';
import { RunOutcome } from '../data/sweeps/sweep-run.ts';
import type { TableReader } from '../data/table/table.ts';
import { JsonNumber } from '../http/body/json-number.ts';
import type { ReportBlock } from './parse-report.ts';

const Run = z.object({
  experiment_id: Ulid,
  name: z.string(),
  status: JobStatus,
  outcome: RunOutcome.nullable(),
});
const Cell = z.union([z.string(), z.number()]).nullable();

/** Data of a block, whose kind is that of the block unless they are missing. */
export const BlockData = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('missing'), reason: z.string() }),
  z.object({
    kind: z.literal('value'),
    run: Run,
    metric: z.string(),
    value: JsonNumber,
    step: z.number().nullable(),
  }),
  z.object({
    kind: z.literal('table'),
    columns: z.array(z.string()),
    rows: z.array(z.object({ run: Run, values: z.array(Cell) })),
    complete: z.boolean(),
  }),
  z.object({
    kind: z.literal('chart'),
    charts: z.array(
      z.object({
        metric: z.string(),
        curves: z.array(z.object({ run: Run, steps: z.array(z.number()), values: z.array(JsonNumber) })),
      }),
    ),
    complete: z.boolean(),
  }),
  z.object({
    kind: z.literal('picture'),
    run: Run,
    path: z.string(),
    size: z.number().int(),
    media_type: z.string(),
  }),
  z.object({
    kind: z.literal('sweep'),
    sweep_id: Ulid,
    name: z.string(),
    status: SweepStatus,
    metric: z.string(),
    goal: z.enum(['maximize', 'minimize']),
    trials: z.number().int(),
    ended: z.number().int(),
    best: z.object({ value: z.number(), params: TrialParams }).nullable(),
  }),
  z.object({ kind: z.literal('receipt'), compression: Ulid, method: z.enum(['prune', 'quantize']) }),
]);

/** The file of a picture is kept with a frozen block, and not told. */
export type StoredData = z.infer<typeof BlockData> & { object?: string };

/** Return the digest under which the data of a frozen block are stored. */
export const digestOfBlock = ({ text }: ReportBlock): string =>
  createHash('sha256').update(text).digest('hex');

/** A picture whose file was replaced since it was frozen is another one, and one without a file is none. */
export async function unlessReplaced(
  { records }: { records: TableReader<'records'> },
  data: StoredData,
): Promise<StoredData> {
  if (data.kind !== 'picture') return data;
  const artifact =
    data.object === undefined ? undefined : await findArtifact(records, data.run.experiment_id, data.path);
  return artifact !== undefined && artifact.object === data.object
    ? data
    : missing('Its file was replaced or removed after the block was frozen.');
}

export const missing = (reason: string): StoredData => ({ kind: 'missing', reason });
