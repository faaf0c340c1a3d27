import type { Finding } from './finding.ts';
import type { Inventory } from './inventory.ts';
import { OrphanSearch } from './orphan-search.ts';

/** Orphaned and inconsistent records of a deployment. Empty where all is consistent and no job or delete is in progress. */
export function findOrphans({ accounts, records, objects }: Inventory): Finding[] {
  using search = new OrphanSearch();
  for (const item of accounts) search.addAccount(item);
  for (const item of records) search.addRecord(item);
  for (const object of objects) search.addObject(object);
  return [...search.findings()];
}
