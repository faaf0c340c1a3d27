import { CommandError, type SplitCommand, splitCommand } from '../../command/parse-command.ts';
import { placeholderOf } from '../../command/placeholders.ts';
import type { Settings } from '../../core/settings.ts';
import { EnvironmentType } from '../../data/projects/environment.ts';
import type { Dependency } from '../environment/dependencies/dependency.ts';
import {
  type EnvironmentSpec,
  packageIndexFaults,
  parseDependencies,
} from '../environment/dependencies/parse-dependencies.ts';
import { pythonFault } from '../environment/install/python-version.ts';

/** A fault of one field of an environment. */
interface EnvironmentFault {
  name: 'entry_point_command' | 'dependencies';
  message: string;
}

/**
 * Return the faults of an environment that are detectable before a run, for every endpoint. Its fields may be of
 * any type.
 */
export const environmentFaults = ({
  entry_point_command,
  env_type,
  dependencies,
}: Readonly<Record<string, unknown>>): EnvironmentFault[] => [
  ...entryPointFaults(entry_point_command),
  ...dependencyFaults(env_type, dependencies),
];

function entryPointFaults(command: unknown): EnvironmentFault[] {
  const faults = typeof command === 'string' ? commandFaults(command) : [];
  return faults.length === 0 ? [] : [{ name: 'entry_point_command', message: faults.join('; ') }];
}

/** Return all faults of a command as messages for its author. */
export function commandFaults(text: string): string[] {
  try {
    const split = splitCommand(text);
    return expansionFault(split);
  } catch (error) {
    if (error instanceof CommandError) return [error.message];
    throw error;
  }
}

function expansionFault({ words, expansions }: SplitCommand): string[] {
  const script = scriptIndex(words);
  const outside = expansions.filter(({ word }) => word !== script).map(({ text }) => text);
  const [first] = outside;
  if (first === undefined) return [];
  const placeholder = placeholderOf(first.replaceAll(/[${}]/g, ''));
  const instead = placeholder === undefined ? '' : `write ${placeholder}, or `;
  return [
    `${[...new Set(outside)].join(', ')}: variables are not expanded, because no shell runs the command; ${instead}write bash -c '… ${first} …' to expand it, or '${first}' in single quotes for the plain text`,
  ];
}

const shells = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash']);

const takesScript = /^-[a-zA-Z]*c[a-zA-Z]*$/;

/** A shell option that takes the next word as its value: `-o pipefail`, also at the end of `-euo`. */
const takesValue = /^[-+][a-zA-Z]*[oO]$/;

/** Index of the script of `bash -c …` anywhere in the command; undefined if there is none. */
function scriptIndex(words: readonly string[]): number | undefined {
  for (const [index, word] of words.entries()) {
    if (!shells.has(word.slice(word.lastIndexOf('/') + 1))) continue;
    let at = index + 1;
    let hasScript = false;
    for (; /^[-+]./.test(words[at] ?? ''); at += 1) {
      const option = words[at] ?? '';
      if (takesScript.test(option)) hasScript = true;
      if (takesValue.test(option)) at += 1;
    }
    if (hasScript && at < words.length) return at;
  }
  return undefined;
}

function dependencyFaults(type: unknown, dependencies: unknown): EnvironmentFault[] {
  const { data: env_type } = EnvironmentType.safeParse(type);
  if (env_type === undefined || typeof dependencies !== 'string') return [];
  const { faults } = parseDependencies({ env_type, dependencies });
  const lines = faults.map(({ line, message }) => `line ${line}: ${message}`);
  return lines.length === 0 ? [] : [{ name: 'dependencies', message: lines.join('; ') }];
}

/** Imports do not know the versions of Python: an archive is taken where its programs cannot run yet. */
type Deployment = Pick<Settings, 'packageIndexes' | 'trustedImages'> &
  Partial<Pick<Settings, 'pythonVersions'>>;

/**
 * Faults of an environment in this deployment: an untrusted image, a package index that is not allowed, or a version of
 * Python that it does not have.
 */
export function deploymentFaults(spec: EnvironmentSpec, deployment: Deployment): EnvironmentFault[] {
  const { dependencies } = parseDependencies(spec);
  const indexes = packageIndexFaults(dependencies, deployment.packageIndexes);
  const messages = [
    ...imageFaults(spec, deployment),
    ...indexes.map(({ line, message }) => `line ${line}: ${message}`),
    ...[interpreterFaults(dependencies, deployment.pythonVersions)].flat(),
  ];
  return messages.length === 0 ? [] : [{ name: 'dependencies', message: messages.join('; ') }];
}

/** Faults of conditions that no Python of this deployment meets. */
function interpreterFaults(dependencies: readonly Dependency[], known: readonly string[] | undefined) {
  const conditions = dependencies.flatMap((dependency) =>
    dependency.kind === 'python' ? [{ versions: dependency.versions, where: `line ${dependency.line}` }] : [],
  );
  return known === undefined ? [] : (pythonFault(conditions, known) ?? []);
}

/** Faults of a docker environment whose image this deployment does not trust. */
function imageFaults({ env_type, dependencies }: EnvironmentSpec, { trustedImages }: Deployment) {
  if (env_type !== 'docker' || trustedImages === undefined) return [];
  if (Object.hasOwn(trustedImages, dependencies.trim())) return [];
  const names = Object.keys(trustedImages).join(', ');
  return [names === '' ? 'this deployment trusts no images' : `must be one of the trusted images: ${names}`];
}
