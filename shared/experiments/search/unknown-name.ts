import { nearestName } from '../../core/nearest-name.ts';

/** Say in a subordinate clause that no experiment has a name of a filter, which stands without a group, and which it may be. */
export function unknownName(name: string, names: Iterable<string>): string {
  const nearest = nearestName(name, names);
  return `which no experiment has as a param, metric or tag${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}
