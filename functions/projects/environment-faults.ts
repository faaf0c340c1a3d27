import type { ParameterFault } from '../../shared/endpoint/problem.ts';
import { CommandError, parseCommand } from '../../shared/runner/command.ts';
import { type EnvironmentSpec, parseDependencies } from '../../shared/runner/environment/dependencies.ts';

/** What can be told to be wrong with an environment before anything is installed or run: all of it at once. */
export function environmentFaults(
  environment: EnvironmentSpec & { entry_point_command: string },
): ParameterFault[] {
  const faults = parseDependencies(environment).faults.map(
    ({ line, message }): ParameterFault => ({
      in: 'query',
      name: 'dependencies',
      message: `line ${line}: ${message}`,
    }),
  );
  try {
    parseCommand(environment.entry_point_command);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    faults.unshift({ in: 'query', name: 'entry_point_command', message: error.message });
  }
  return faults;
}
