import { parsePart } from '../../../shared/http/body/parse-part.ts';
import { SweepSpec } from '../../../shared/sweeps/spec.ts';

/** Make a valid sweep of some fields. */
export const sweepOf = (fields: object): SweepSpec =>
  SweepSpec.parse({ config: 'train.yaml', trials: 20, ...fields });

/** Return the faults of a request body by name, as a client gets them. */
export function faultsIn(body: Record<string, unknown>): Record<string, string> {
  const { faults } = parsePart(SweepSpec, { values: body, placeOf: () => 'body' });
  return Object.fromEntries(faults.map(({ name, message }) => [name, message]));
}
