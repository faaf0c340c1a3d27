import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { parseConfigFile } from '../../shared/config/parse-config-file.ts';
import { nearestName } from '../../shared/core/nearest-name.ts';
import { scalarPaths } from '../../shared/experiments/config-params.ts';
import { CliError, exitCodes } from '../cli-error.ts';

/** Name of the file that `mps sweep` reads without arguments. */
export const usualSweepFile = 'sweep.yaml';

/** Read a sweep's file: YAML, or JSON, which is YAML. @throws CliError if there is none, or it is no mapping */
export async function readSweepFile(folder: string, path: string): Promise<Record<string, unknown>> {
  const text = await readFile(resolve(folder, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'EISDIR') throw error;
    throw new CliError(`There is no file ${path} in ${folder}.`, exitCodes.usage);
  });
  let value: unknown;
  try {
    value = parse(text) ?? {};
  } catch (error) {
    throw new CliError(
      `${path}: ${error instanceof Error ? error.message.trim() : String(error)}`,
      exitCodes.usage,
    );
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new CliError(
    `${path} must be a mapping with parameters, trials and further fields.`,
    exitCodes.usage,
  );
}

/** Configuration of the sweep as it is stored. */
interface StoredConfig {
  config_id: string;
  content: string;
}

/**
 * Return the faults of a sweep's file by the rules of the service, and beside its configuration, as one text.
 * @param title name of the file in the text, or of the flags
 */
export async function faultsOfFile(
  title: string,
  fields: Readonly<Record<string, unknown>>,
  { config_id, content }: StoredConfig,
): Promise<string[]> {
  // Loaded only here: building the schema takes a while, and other commands do not need it.
  const [{ SweepSpec }, { faultsOfNames }, { parsePart }] = await Promise.all([
    import('../../shared/sweeps/spec.ts'),
    import('../../shared/sweeps/spec/sweep-faults.ts'),
    import('../../shared/http/body/parse-part.ts'),
  ]);
  const known = Object.keys(SweepSpec.shape);
  const unknown = Object.keys(fields).filter((name) => !known.includes(name));
  const values = Object.fromEntries(Object.entries(fields).filter(([name]) => known.includes(name)));
  const { faults } = parsePart(SweepSpec, { values, placeOf: () => 'body' });
  const { parameters = {}, repeat_seed, args } = values;
  const named = {
    parameters: args === true || !isMapping(parameters) ? {} : (parameters as Record<string, never>),
    ...(typeof repeat_seed === 'string' && { repeat_seed }),
  };
  const lines = [
    ...unknown.map((name) => `${name}: unknown. ${hint(name, known)}`),
    ...faults.map(({ name, message }) => `${name}: ${message}`),
    ...faultsOfNames(named, config_id, pathsOf(config_id, content)).map(
      ({ name, message }) => `${name}: ${message}`,
    ),
  ];
  return lines.length === 0 ? [] : [`${title} cannot be used:\n  ${lines.join('\n  ')}`];
}

const isMapping = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function hint(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === undefined ? `Known are ${known.join(', ')}.` : `Did you mean ${near}?`;
}

function pathsOf(config_id: string, content: string): string[] {
  try {
    return scalarPaths(parseConfigFile(config_id, content).data);
  } catch (error) {
    throw new CliError(
      `${config_id}: ${error instanceof Error ? error.message : String(error)}`,
      exitCodes.usage,
    );
  }
}
