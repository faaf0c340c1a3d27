import * as z from 'zod';
import { Timestamp } from '../../../shared/core/formats.ts';
import { EnvironmentType } from '../../../shared/data/projects/environment.ts';
import { environmentFields } from '../../../shared/data/projects/environment-rules.ts';
import { checkedTogether } from '../../../shared/http/definition/parameters.ts';
import { environmentFaults } from '../../../shared/runner/training/environment-faults.ts';

/** The environment of a project in a response. */
export const EnvironmentAnswer = z
  .object({
    entry_point_command: z.string(),
    env_type: EnvironmentType,
    dependencies: z.string(),
    lock_hash: z.string().nullable(),
    updated_at: Timestamp,
    version: z.number().int(),
  })
  .meta({ id: 'Environment' });

/** The program and environment of a project, with all checks that are possible before a run. */
export const environmentQuery = checkedTogether(
  z.strictObject({
    entry_point_command: environmentFields.entry_point_command.describe(
      'Command to run, such as `python train.py --config {config} --data {data_dir} --out {output_dir}`.',
    ),
    env_type: environmentFields.env_type.describe(
      "Kind of environment: Python packages, Node packages, the machine's own software (`system`), or your own image (`docker`).",
    ),
    dependencies: environmentFields.dependencies.describe(
      'Packages to install, one per line, such as `scikit-learn==1.7.2`.',
    ),
  }),
  environmentFaults,
);
