import * as z from 'zod';

const most = 100;
const longestPath = 500;

const Scalar = z.union([z.string().max(4000), z.number(), z.boolean(), z.null()]);

/** Values of a configuration that a training replaces, by their paths. */
export const Overrides = z
  .record(z.string().min(1).max(longestPath), Scalar)
  .refine(
    (values) => Object.keys(values).length > 0 && Object.keys(values).length <= most,
    `must have 1 to ${most} values`,
  );
