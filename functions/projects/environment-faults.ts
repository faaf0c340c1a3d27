import type { ParameterFault } from '../../shared/endpoint/problem.ts';
import type { Settings } from '../../shared/endpoint/settings.ts';
import { CommandError, parseCommand } from '../../shared/runner/command.ts';
import { type EnvironmentSpec, parseDependencies } from '../../shared/runner/environment/dependencies.ts';

/** What can be told to be wrong with an environment before anything is installed or run: all of it at once. */
export function environmentFaults(
  environment: EnvironmentSpec & { entry_point_command: string },
  { trustedImages }: Pick<Settings, 'trustedImages'>,
): ParameterFault[] {
  const faults = parseDependencies(environment).faults.map(
    ({ line, message }): ParameterFault => ({
      in: 'query',
      name: 'dependencies',
      message: `line ${line}: ${message}`,
    }),
  );
  const { env_type, dependencies } = environment;
  if (
    env_type === 'docker' &&
    trustedImages !== undefined &&
    !Object.hasOwn(trustedImages, dependencies.trim())
  ) {
    const names = Object.keys(trustedImages).join(', ');
    const message =
      names === '' ? 'no image is trusted by this deployment' : `must be one of the trusted images: ${names}`;
    faults.push({ in: 'query', name: 'dependencies', message });
  }
  try {
    parseCommand(environment.entry_point_command);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    faults.unshift({ in: 'query', name: 'entry_point_command', message: error.message });
  }
  return faults;
}
