import * as z from 'zod';

/** An experiment as the demo reads it. */
export const DemoExperiment = z.object({
  experiment_id: z.string(),
  project_id: z.string(),
  kind: z.enum(['train', 'train-remote']),
  created_at: z.string(),
  status: z.string(),
  status_reason: z.string().nullable(),
  duration: z.number().nullable(),
  nodes: z.number(),
  environment_cache: z.enum(['hit', 'miss', 'none']).nullable(),
  saved_seconds: z.number().nullable(),
  lock_hash: z.string().nullable(),
  best: z.object({ criterion: z.string(), value: z.number(), step: z.number().nullable() }).nullable(),
  exit_code: z.number().nullable(),
});
export type DemoExperiment = z.infer<typeof DemoExperiment>;

const ends: ReadonlySet<string> = new Set(['SUCCEEDED', 'FAILED', 'CANCELLED']);

export const hasEnded = ({ status }: Pick<DemoExperiment, 'status'>): boolean => ends.has(status);
