import { findOrphans } from '../../../support/inventory.ts';
import { pass } from '../world/pass.ts';
import type { Service } from '../world/service.ts';
import { belongingsOf } from './belongings.ts';

/** Lets days go by, and finds everything in the stores that belongs to nobody, or that no record names. */
export async function leftOver(service: Service): Promise<string[]> {
  for (const seconds of daysLater) await pass(service, seconds);
  const inventory = await service.inventory();
  const { named } = belongingsOf(inventory);
  return [
    ...findOrphans(inventory).map(({ kind, where, why }) => `${kind}: ${where}: ${why}`),
    ...inventory.objects.filter(({ key }) => !named.has(key)).map(({ key }) => `unnamed: ${key}`),
    ...inventory.records
      .filter(({ pk }) => pk === 'PURGES' || pk === 'ARCHIVES')
      .map(({ pk, sk }) => `stale: ${pk} ${sk}`),
  ];
}

/** Seconds after which uploads that were announced and not accepted are removed, and after which nothing comes back. */
const daysLater = [1.1 * 86_400, 33 * 86_400];
