import type { Need } from '../../core/needs.ts';
import { readAccounts, readRecords } from '../../data/table/needs.ts';
import type { AnyEndpoint } from './exchange.ts';

/**
 * Everything that an endpoint's function reaches: what its behaviour needs, and what the steps before it do, which look
 * up a bearer token wherever one is presented and the project of a project rule.
 */
export function allNeeds({ needs, project }: Pick<AnyEndpoint, 'needs' | 'project'>): Need<unknown>[] {
  return [readAccounts, ...(project === undefined ? [] : [readRecords]), ...Object.values(needs)];
}
