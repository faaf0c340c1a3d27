import type { ParameterFault, ParameterPlace } from '../../core/service-error.ts';
import { isWellFormed } from '../../core/text/well-formed.ts';

/** What is wrong with such a parameter. */
export const illFormed = 'holds half a character (a surrogate without its other half)';

/** Faults of the parameters whose names or values hold a lone surrogate. */
export function illFormedFaults(
  place: ParameterPlace,
  parameters: Iterable<readonly [string, unknown]>,
): ParameterFault[] {
  const names = [...parameters].filter((pair) => !isWellFormed(pair)).map(([name]) => name.toWellFormed());
  return [...new Set(names)].map((name) => ({ in: place, name, message: illFormed }));
}
