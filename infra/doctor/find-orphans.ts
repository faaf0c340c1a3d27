import type { Finding } from './finding.ts';
import type { Inventory } from './inventory.ts';
import { OrphanSearch } from './orphan-search.ts';

/** What is left over in a deployment, or does not agree. Empty where everything is in order and nothing is under way. */
export function findOrphans({ accounts, records, objects }: Inventory): Finding[] {
  using search = new OrphanSearch();
  for (const item of accounts) search.addAccount(item);
  for (const item of records) search.addRecord(item);
  for (const object of objects) search.addObject(object);
  return [...search.findings()];
}
