import * as z from 'zod';
import { paragraph, paragraphOrBlank } from '../../core/text/text-rules.ts';
import { EnvironmentType } from './environment.ts';
import { exactly } from './exact-number.ts';

/** Rules of an environment's single fields, from a request or an archive. */
export const environmentFields = {
  entry_point_command: paragraph(4000),
  env_type: EnvironmentType,
  dependencies: paragraphOrBlank(4000),
};

const most = 100;
const longestPath = 500;

const Scalar = z.union([z.string().max(4000), z.number(), z.boolean(), z.null()]);

const overridesOf = <S extends z.ZodType>(scalar: S) =>
  z
    .record(z.string().min(1).max(longestPath), scalar)
    .refine(
      (values) => Object.keys(values).length > 0 && Object.keys(values).length <= most,
      `must have 1 to ${most} values`,
    );

/** Configuration values that a training replaces, by path. */
export const Overrides = overridesOf(exactly(Scalar));
/** The same of a recorded training: earlier releases took numbers that are not kept exactly. */
export const RecordedOverrides = overridesOf(Scalar);
