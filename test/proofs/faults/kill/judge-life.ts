import { isFinal } from '../../../../shared/data/jobs/job-status.ts';
import type { JobRecord } from '../../../../shared/jobs/job-record.ts';
import { findOrphans, type Inventory } from '../../../support/inventory.ts';
import { belongingsOf } from './belongings.ts';
import type { JobKind } from './course.ts';
import type { Scenario, Strike } from './job-strike.ts';

interface Lived {
  inventory: Inventory;
  record: JobRecord | undefined;
  /** What of it would not be there, had it succeeded. */
  lacking: readonly string[];
  kind: JobKind;
  scenario: Scenario;
  /** Undefined where nothing was killed. */
  strike: Strike | undefined;
  /** Whether whoever asked for the job was told that it was accepted. */
  isAcknowledged: boolean;
  /** Whether whoever cancelled it was told that it is. */
  isCancelled: boolean;
  /** How often its work was done. */
  runs: number;
}

/** Which ends a job may come to. */
function mayEnd({ kind, scenario, strike, isCancelled }: Lived): string[] {
  if (scenario === 'cancelled')
    return strike === undefined && isCancelled ? ['CANCELLED'] : ['CANCELLED', 'SUCCEEDED', 'FAILED'];
  // Of a cluster, Batch here tries the build alone again.
  const isRetried = scenario === 'again' && (kind !== 'cluster' || strike?.part === 'build');
  return strike?.role === 'container' && !isRetried ? ['FAILED', 'SUCCEEDED'] : ['SUCCEEDED'];
}

/** What is begun and will never be ended. */
function unended({ inventory }: Lived): string[] {
  const claims = inventory.records.filter(
    ({ record_type, ttl }) => record_type === 'environment-builder' && ttl === undefined,
  );
  const kept = inventory.records.filter(({ record_type }) => record_type === 'continuation');
  const models = [...belongingsOf(inventory).models.values()].filter(({ status }) => status === 'uploading');
  return [
    ...claims.map(({ pk, sk }) => `stale: the claim ${pk}/${sk} is kept for ever`),
    ...kept.map(({ pk, sk }) => `stale: ${pk}/${sk} keeps checkpoints from being deleted for ever`),
    ...models.map(({ model_name }) => `stale: the model ${model_name} is half made`),
  ];
}

/** Everything that must not be once a job's life is over, in words. */
export function judgeLife(lived: Lived): string[] {
  const { inventory, record, isAcknowledged, runs, strike, scenario } = lived;
  const faults = findOrphans(inventory).map(({ kind, where, why }) => `${kind}: ${where}: ${why}`);
  if (record === undefined) {
    if (isAcknowledged) faults.push('lost: an accepted job');
    if (runs > 0) faults.push('a job ran that nobody accepted');
    return faults;
  }
  // A purge that is kept for an hour would excuse it.
  const { named } = belongingsOf(inventory);
  const unnamed = inventory.objects.filter(({ key }) => !named.has(key));
  faults.push(...unnamed.map(({ key }) => `unnamed: ${key}`), ...unended(lived));
  const { status, attempt } = record;
  if (!isFinal(status)) return [...faults, `stale: it is still ${status}`];
  if (!mayEnd(lived).includes(status))
    faults.push(`it ended ${status} (${record.status_reason}), not ${mayEnd(lived).join(' or ')}`);
  if (runs > attempt) faults.push(`its work was done ${runs} times in ${attempt} attempts`);
  const most = scenario === 'again' && strike?.role === 'container' ? 2 : 1;
  if (runs > most) faults.push(`its work was done ${runs} times`);
  if (status === 'SUCCEEDED') faults.push(...lived.lacking.map((what) => `lost: ${what}`));
  return faults;
}
