import * as z from 'zod';
import { EnvironmentType } from '../../shared/data/environment.ts';
import { paragraph, paragraphOrBlank } from '../../shared/endpoint/parameters.ts';
import { CommandError, parseCommand } from '../../shared/runner/command.ts';
import { parseDependencies } from '../../shared/runner/environment/dependencies.ts';

type Issue = readonly [parameter: string, message: string];

function commandFaults(command: unknown): Issue[] {
  try {
    if (typeof command === 'string') parseCommand(command);
    return [];
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return [['entry_point_command', error.message]];
  }
}

function dependencyFaults(type: unknown, dependencies: unknown): Issue[] {
  const { data: env_type } = EnvironmentType.safeParse(type);
  if (env_type === undefined || typeof dependencies !== 'string') return [];
  const { faults } = parseDependencies({ env_type, dependencies });
  const lines = faults.map(({ line, message }) => `line ${line}: ${message}`);
  return lines.length === 0 ? [] : [['dependencies', lines.join('; ')]];
}

/**
 * What a project runs, and in what. It is also judged as a whole, even where single parameters are wrong, so that a
 * caller learns at once all that can be told before anything is installed or run.
 */
export const environmentQuery = z
  .strictObject({
    entry_point_command: paragraph(4000).describe(
      'What is run, such as `python train.py --config {config} --out {output_dir}`.',
    ),
    env_type: EnvironmentType.describe(
      'Where it runs: with packages of Python or Node, with what the image has, or in an image of yours.',
    ),
    dependencies: paragraphOrBlank(4000).describe(
      'What is installed, a line each, such as `scikit-learn==1.7.2`.',
    ),
  })
  .superRefine(
    (query, context) => {
      const issues = [
        ...commandFaults(query.entry_point_command),
        ...dependencyFaults(query.env_type, query.dependencies),
      ];
      for (const [name, message] of issues) context.addIssue({ code: 'custom', path: [name], message });
    },
    { when: () => true },
  );
