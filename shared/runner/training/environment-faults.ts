import type { Settings } from '../../core/settings.ts';
import { EnvironmentType } from '../../data/projects/environment.ts';
import { packageIndexFaults } from '../environment/dependencies/package-index-faults.ts';
import { type EnvironmentSpec, parseDependencies } from '../environment/dependencies/parse-dependencies.ts';
import { commandFaults } from './check-command.ts';

/** What is wrong with one field of an environment. */
export interface EnvironmentFault {
  name: 'entry_point_command' | 'dependencies';
  message: string;
}

function entryPointFaults(command: unknown): EnvironmentFault[] {
  const faults = typeof command === 'string' ? commandFaults(command) : [];
  return faults.length === 0 ? [] : [{ name: 'entry_point_command', message: faults.join('; ') }];
}

function dependencyFaults(type: unknown, dependencies: unknown): EnvironmentFault[] {
  const { data: env_type } = EnvironmentType.safeParse(type);
  if (env_type === undefined || typeof dependencies !== 'string') return [];
  const { faults } = parseDependencies({ env_type, dependencies });
  const lines = faults.map(({ line, message }) => `line ${line}: ${message}`);
  return lines.length === 0 ? [] : [{ name: 'dependencies', message: lines.join('; ') }];
}

/** What is wrong with an environment as far as it can be checked before a run, whoever brings it; its fields may be anything. */
export const environmentFaults = ({
  entry_point_command,
  env_type,
  dependencies,
}: Readonly<Record<string, unknown>>): EnvironmentFault[] => [
  ...entryPointFaults(entry_point_command),
  ...dependencyFaults(env_type, dependencies),
];

type Deployment = Pick<Settings, 'packageIndexes' | 'trustedImages'>;

/** What is wrong with dependencies that name an image which this deployment does not trust with its supervisor. */
function imageFaults({ env_type, dependencies }: EnvironmentSpec, { trustedImages }: Deployment) {
  if (env_type !== 'docker' || trustedImages === undefined) return [];
  if (Object.hasOwn(trustedImages, dependencies.trim())) return [];
  const names = Object.keys(trustedImages).join(', ');
  return [
    names === '' ? 'no image is trusted by this deployment' : `must be one of the trusted images: ${names}`,
  ];
}

/** What keeps an environment from this deployment: an image that it does not trust, a package index that it does not allow. */
export function deploymentFaults(spec: EnvironmentSpec, deployment: Deployment): EnvironmentFault[] {
  const indexes = packageIndexFaults(parseDependencies(spec).dependencies, deployment.packageIndexes);
  const messages = [
    ...imageFaults(spec, deployment),
    ...indexes.map(({ line, message }) => `line ${line}: ${message}`),
  ];
  return messages.length === 0 ? [] : [{ name: 'dependencies', message: messages.join('; ') }];
}
