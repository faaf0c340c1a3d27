import { parse } from 'yaml';
import * as z from 'zod/mini';
import { errorText } from '../../../shared/core/error-text.ts';
import { CliError, exitCodes } from '../../cli-error.ts';

/**
 * Return the environment file that an `MLproject` names: that of `python_env`, else of `conda_env`.
 *
 * @throws CliError if the file cannot be read
 */
export function environmentFileOf(content: string): string | undefined {
  const { python_env, conda_env } = readProject(content);
  return python_env ?? conda_env ?? undefined;
}

/**
 * Return the command of an `MLproject`'s entry point `main`, with the defaults of its parameters; undefined if it has
 * none.
 *
 * @throws CliError for a parameter without a default: `mps run -- …` gives the whole command
 * @example mainCommand('entry_points: {main: {parameters: {lr: 0.1}, command: "python train.py {lr}"}}') // 'python train.py 0.1'
 */
export function mainCommand(content: string): string | undefined {
  const main = readProject(content).entry_points?.['main'];
  if (main === undefined) return undefined;
  const { command, parameters = {} } = main;
  const missing: string[] = [];
  const filled = command.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const given = parameters?.[name];
    const value = typeof given === 'object' ? given?.default : given;
    // A bare type has no default: `alpha: float`.
    if (value === undefined || types.has(String(value))) {
      if (given !== undefined) missing.push(name);
      return whole;
    }
    return String(value);
  });
  if (missing.length === 0) return filled.trim();
  throw new CliError(
    `MLproject: ${missing.join(', ')} has no default.\nGive the whole command: mps run -- ${filled.trim()}`,
    exitCodes.usage,
  );
}

const types = new Set(['float', 'int', 'string', 'str', 'path', 'uri', 'bool']);

const Value = z.union([z.string(), z.number(), z.boolean()]);

const Project = z.object({
  python_env: z.optional(z.string()),
  conda_env: z.optional(z.string()),
  entry_points: z.optional(
    z.record(
      z.string(),
      z.object({
        command: z.string(),
        parameters: z.optional(
          z.nullable(z.record(z.string(), z.union([Value, z.object({ default: z.optional(Value) })]))),
        ),
      }),
    ),
  ),
});

function readProject(content: string): z.infer<typeof Project> {
  try {
    return Project.parse(parse(content) ?? {});
  } catch (error) {
    throw new CliError(`MLproject cannot be read: ${errorText(error).trim()}`, exitCodes.usage);
  }
}
