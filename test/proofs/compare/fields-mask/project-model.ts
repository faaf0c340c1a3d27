import * as z from 'zod';

/** A model of every kind of field that a mask meets, made like a project; flask-restx-answers.py declares the same. */
const Metric = z.object({ criterion: z.string(), value: z.number(), step: z.number().int().optional() });

const Experiment = z.object({
  experiment_id: z.string(),
  status: z.string(),
  duration: z.number().nullable(),
  tags: z.array(z.string()),
  best: Metric.nullable(),
});

const Environment = z.object({ env_type: z.string(), dependencies: z.array(z.string()) });

export const Project = z.object({
  project_id: z.string(),
  project_name: z.string(),
  description: z.string().optional(),
  owner: z.string().nullable(),
  'lock-hash': z.string(),
  'x:score': z.number(),
  tags: z.array(z.string()),
  counts: z.object({ configs: z.number().int(), experiments: z.number().int() }),
  latest: Experiment.nullable(),
  environment: Environment.optional(),
  experiments: z.array(Experiment),
  curves: z.array(z.array(Metric)),
  attributes: z.unknown(),
});
