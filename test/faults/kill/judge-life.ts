import { findOrphans } from '../../../infra/doctor/find-orphans.ts';
import type { Inventory } from '../../../infra/doctor/inventory.ts';
import type { Experiment } from '../../../shared/data/experiment.ts';
import { isFinal } from '../../../shared/jobs/status.ts';
import type { Scenario, Strike } from './job-strike.ts';

interface Lived {
  inventory: Inventory;
  experiment: Experiment | undefined;
  scenario: Scenario;
  /** Undefined where nothing was killed. */
  strike: Strike | undefined;
  /** Whether whoever asked for the training was told that it was accepted. */
  isAcknowledged: boolean;
  /** How often the command ran. */
  runs: number;
}

/** What a job that succeeded has to have left. */
function judgeSuccess({ inventory }: Lived, { experiment_id, best }: Experiment): string[] {
  const own = inventory.records.filter(({ pk }) => pk === `JOB#${experiment_id}`);
  const paths = own.filter(({ record_type }) => record_type === 'artifact').map(({ sk }) => sk);
  const stored = new Set(inventory.objects.map(({ key }) => key));
  const lost = own.filter(({ object }) => object !== undefined && !stored.has(String(object)));
  return [
    ...(paths.join() === 'ARTIFACT#model.bin,ARTIFACT#table.csv'
      ? []
      : [`lost: its artifacts are ${paths.join()}`]),
    ...lost.map(({ sk }) => `lost: the object of ${sk}`),
    ...(best?.value === 0.9 ? [] : [`lost: its best value is ${best?.value}`]),
    ...(own.some(({ sk }) => sk.startsWith('LOG#')) ? [] : ['lost: its log']),
  ];
}

/** Which ends a job may come to. */
function mayEnd({ scenario, strike }: Lived): string[] {
  if (scenario === 'cancelled')
    return strike === undefined ? ['CANCELLED'] : ['CANCELLED', 'SUCCEEDED', 'FAILED'];
  if (strike?.role === 'container' && scenario !== 'again') return ['FAILED', 'SUCCEEDED'];
  return ['SUCCEEDED'];
}

/** Everything that must not be once a job's life is over, in words. */
export function judgeLife(lived: Lived): string[] {
  const { inventory, experiment, isAcknowledged, runs, strike, scenario } = lived;
  const faults = findOrphans(inventory).map(({ kind, where, why }) => `${kind}: ${where}: ${why}`);
  if (experiment === undefined) {
    if (isAcknowledged) faults.push('lost: an accepted training');
    if (runs > 0) faults.push('a job ran that nobody accepted');
    return faults;
  }
  // A purge that is kept for an hour would excuse it.
  const named = new Set(
    inventory.records.flatMap(({ object }) => (object === undefined ? [] : [String(object)])),
  );
  const unnamed = inventory.objects.filter(({ key }) => key.includes('/experiments/') && !named.has(key));
  faults.push(...unnamed.map(({ key }) => `unnamed: ${key}`));
  const { status, attempt } = experiment;
  if (!isFinal(status)) return [...faults, `stale: it is still ${status}`];
  if (!mayEnd(lived).includes(status))
    faults.push(`it ended ${status} (${experiment.status_reason}), not ${mayEnd(lived).join(' or ')}`);
  if (runs > attempt) faults.push(`its command ran ${runs} times in ${attempt} attempts`);
  const most = scenario === 'again' && strike?.role === 'container' ? 2 : 1;
  if (runs > most) faults.push(`its command ran ${runs} times`);
  if (status === 'SUCCEEDED') faults.push(...judgeSuccess(lived, experiment));
  return faults;
}
