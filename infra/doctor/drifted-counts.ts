import { clusterClaimKey } from '../../shared/data/cluster-claim.ts';
import { userLimitKey } from '../../shared/data/job.ts';
import { isFinal } from '../../shared/data/job-status.ts';
import { type Counters, countersKey } from '../../shared/data/project.ts';
import type { Item, Key } from '../../shared/data/table.ts';
import { formerLimitKey, isShare, shareIndex } from '../../shared/data/vcpu-limit.ts';
import type { Belongings } from './belongings.ts';
import type { Finding } from './finding.ts';
import type { Inventory } from './inventory.ts';

const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

/** What the counters of a project have to be. */
function countedOf(project_id: string, records: readonly Item[], { experiments }: Belongings): Counters {
  const own = [...experiments.values()].filter((one) => one.project_id === project_id);
  const jobs = new Set(own.map(({ experiment_id }) => `JOB#${experiment_id}`));
  const stored = records.filter(
    ({ pk, record_type }) =>
      (pk === `BLOBS#${project_id}` && record_type === 'blob') ||
      (pk === `ENVIRONMENT_PACKS#${project_id}` && record_type === 'environment-pack') ||
      (jobs.has(pk) && (record_type === 'artifact' || record_type === 'checkpoint')),
  );
  return {
    configs: records.filter(({ pk }) => pk === `CONFIGS#${project_id}`).length,
    experiments: own.length,
    unfinished: own.filter(({ status }) => !isFinal(status)).length,
    objects: stored.length,
    bytes: total(stored.map(({ size, bytes }) => Number(size ?? bytes))),
  };
}

const sizeOf = ({ vcpus, nodes }: { vcpus: number; nodes: number }): number => vcpus * nodes;

/** Counts that are kept beside what they count, and do not agree with it. */
export function driftedCounts({ records }: Inventory, belongings: Belongings): Finding[] {
  const items = new Map(records.map((item) => [`${item.pk}/${item.sk}`, item]));
  const compare = (key: Key, attribute: string, actual: number): Finding[] => {
    const where = `${key.pk}/${key.sk}`;
    const kept = Number(items.get(where)?.[attribute] ?? 0);
    if (Math.abs(kept - actual) < 1e-6) return [];
    return [{ kind: 'count', where, why: `${attribute} is ${kept}, and there are ${actual}` }];
  };
  const unfinished = [...belongings.experiments.values(), ...belongings.strategies.values()].filter(
    ({ status }) => !isFinal(status),
  );
  const users = records.flatMap(({ pk, sk }) =>
    pk === 'LIMITS' && sk.startsWith('USER#') ? [sk.slice(5)] : [],
  );
  return [
    ...[...belongings.projects.keys()].flatMap((project_id) =>
      Object.entries(countedOf(project_id, records, belongings)).flatMap(([attribute, actual]) =>
        compare(countersKey(project_id), attribute, actual),
      ),
    ),
    ...[...new Set([...users, ...unfinished.map(({ user_id }) => user_id)])].flatMap((user_id) =>
      compare(
        userLimitKey(user_id),
        'unfinished',
        unfinished.filter((job) => job.user_id === user_id).length,
      ),
    ),
    ...compare(
      clusterClaimKey,
      'clusters',
      unfinished.filter((job) => 'cluster_owner' in job && job.cluster_owner !== null).length,
    ),
    ...compare(
      formerLimitKey,
      'vcpus',
      total(unfinished.filter((job) => job.limit_share === null).map(sizeOf)),
    ),
    ...records.filter(isShare).flatMap((item) => {
      const held = unfinished.filter((job) => job.limit_share === shareIndex(item));
      return compare(item, 'free', Number(item['capacity']) - total(held.map(sizeOf)));
    }),
  ];
}
