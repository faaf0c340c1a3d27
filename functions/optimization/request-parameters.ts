import * as z from 'zod';
import { decimal, FileId, integer } from '../../shared/endpoint/parameters.ts';
import { Problem } from '../../shared/endpoint/problem.ts';
import type { Judged } from '../../shared/onnx/methods/judge.ts';

/** Names separated by commas. */
export const names = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .meta({ type: 'string' });

/** One of these values. Others are refused with all that is wrong with the combination, not here. */
export const named = (values: readonly string[]) => z.string().meta({ type: 'string', enum: [...values] });

/** Query parameters of every strategy, beyond the interface. */
export const strategyParameters = {
  exclude: names.optional(),
  max_error: decimal(0, 1_000_000).optional(),
  seed: integer(0, 2 ** 32 - 1).optional(),
  result_name: FileId.optional(),
  vcpus: decimal(0.25, 64).optional(),
  memory: integer(512, 262_144).optional(),
  timeout: integer(1, 14 * 24 * 60 * 60).optional(),
};

/** The request. Throws a 400 problem that names every fault, and all that is allowed. */
export function requireAllowed<T>(judged: Judged<T>, allowed: string): T {
  if ('request' in judged) return judged.request;
  const errors = judged.faults.map(({ name, message }) => ({ in: 'query' as const, name, message }));
  const said = errors.map(({ name, message }) => `${name}: ${message}`).join('; ');
  throw new Problem('bad-request', `${said}. Allowed are: ${allowed}.`, { errors });
}
