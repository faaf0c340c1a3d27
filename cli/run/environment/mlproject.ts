import { parse } from 'yaml';
import * as z from 'zod/mini';
import { quoteCommand } from '../../../shared/command/quote-command.ts';
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
 * Return the command of an `MLproject`: that of the named entry point, else of `main`, else of its only one, with the values of its
 * parameters; undefined if it has none of these.
 *
 * @param given values of `-S`, by the names of the parameters; others have their defaults
 * @param wanted an entry point; its command counts as asked for
 * @throws CliError if the file cannot be read
 * @example entryPointCommand('entry_points: {main: {parameters: {lr: 0.1}, command: "python train.py {lr}"}}', new Map())
 * // { command: 'python train.py 0.1', isGiven: false }
 */
export function entryPointCommand(
  content: string,
  given: ReadonlyMap<string, unknown>,
  wanted?: string,
): ProjectCommand | undefined {
  const points = Object.entries(readProject(content).entry_points ?? {});
  const only = wanted === undefined && points.length === 1 ? points[0] : undefined;
  const main = points.find(([name]) => name === (wanted ?? 'main')) ?? only;
  if (main === undefined) return undefined;
  const { command, parameters = {} } = main[1];
  const missing: string[] = [];
  let isGiven = wanted !== undefined;
  const filled = command.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const declared = parameters?.[name];
    if (declared !== undefined && given.has(name)) {
      isGiven = true;
      return quoteCommand([String(given.get(name))]);
    }
    const value = typeof declared === 'object' ? declared?.default : declared;
    // A bare type has no default: `alpha: float`.
    if (value === undefined || types.has(String(value))) {
      if (declared !== undefined) missing.push(name);
      return whole;
    }
    return String(value);
  });
  if (missing.length === 0) return { command: filled.trim(), isGiven };
  const flags = missing.map((name) => `-S ${name}=…`).join(' ');
  const advice = `Give a value: mps run ${flags}\nOr the whole command: mps run -- ${filled.trim()}`;
  return { fault: `MLproject: ${missing.join(', ')} has no default.\n${advice}` };
}

/** Return the names of the entry points of an `MLproject`. @throws CliError if the file cannot be read */
export const entryPointNames = (content: string): string[] =>
  Object.keys(readProject(content).entry_points ?? {});

/** A command, and whether it was asked for by its name or by a value of `-S` in it; or why there is none: a parameter has no value. */
export type ProjectCommand = { command: string; isGiven: boolean } | { fault: string };

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
