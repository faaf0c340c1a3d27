import { parsePart } from '../../../shared/http/body/parse-part.ts';
import { SweepSpec } from '../../../shared/sweeps/spec.ts';
import type { Search } from '../../../shared/sweeps/suggest.ts';

/** Make a valid sweep of some fields. Unless they say otherwise, the smallest value is the best. */
export function sweepOf(fields: object): SweepSpec & Search {
  const spec = SweepSpec.parse({ config: 'train.yaml', trials: 20, ...fields });
  return { ...spec, goal: spec.goal ?? 'minimize' };
}

/** Return the faults of a request body by name, as a client gets them. */
export function faultsIn(body: Record<string, unknown>): Record<string, string> {
  const { faults } = parsePart(SweepSpec, { values: body, placeOf: () => 'body' });
  return Object.fromEntries(faults.map(({ name, message }) => [name, message]));
}
