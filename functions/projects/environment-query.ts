import * as z from 'zod';
import { paragraph, paragraphOrBlank } from '../../shared/core/text-rules.ts';
import { EnvironmentType } from '../../shared/data/environment.ts';
import { type CombinedFault, checkedTogether } from '../../shared/http/checked-together.ts';
import { commandFaults } from '../../shared/runner/command/check-command.ts';
import { parseDependencies } from '../../shared/runner/environment/dependencies/parse-dependencies.ts';

function entryPointFaults(command: unknown): CombinedFault[] {
  const faults = typeof command === 'string' ? commandFaults(command) : [];
  return faults.length === 0 ? [] : [{ name: 'entry_point_command', message: faults.join('; ') }];
}

function dependencyFaults(type: unknown, dependencies: unknown): CombinedFault[] {
  const { data: env_type } = EnvironmentType.safeParse(type);
  if (env_type === undefined || typeof dependencies !== 'string') return [];
  const { faults } = parseDependencies({ env_type, dependencies });
  const lines = faults.map(({ line, message }) => `line ${line}: ${message}`);
  return lines.length === 0 ? [] : [{ name: 'dependencies', message: lines.join('; ') }];
}

/** The program and environment of a project, as far as they can be checked before a run. */
export const environmentQuery = checkedTogether(
  z.strictObject({
    entry_point_command: paragraph(4000).describe(
      'Command to run, such as `python train.py --config {config} --data {data_dir} --out {output_dir}`.',
    ),
    env_type: EnvironmentType.describe(
      'Kind of environment: Python or Node packages, what the machine has (`system`), or an image of yours (`docker`).',
    ),
    dependencies: paragraphOrBlank(4000).describe(
      'Packages to install, one on each line, such as `scikit-learn==1.7.2`.',
    ),
  }),
  ({ entry_point_command, env_type, dependencies }) => [
    ...entryPointFaults(entry_point_command),
    ...dependencyFaults(env_type, dependencies),
  ],
);
