import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';

/*
 * Nodes of a cluster reach one another on every port. A security group belongs to a compute environment, not to a job,
 * so nodes of one cluster reach those of any other. Therefore the clusters of one owner alone run at a time. The claim
 * counts them in the transactions that begin and end their jobs.
 */

/** Noted while owners share: should they no longer, all clusters end before another begins. */
const everybody = 'everybody';

const claim = recordType('cluster-claim', () =>
  z.object({
    /** Owner of the projects whose clusters are unfinished; `everybody` where they are shared. */
    owner_id: z.union([Ulid, z.literal(everybody)]),
    /** Unfinished jobs on clusters. */
    clusters: z.number().int(),
    /** Jobs that began and ended, by which an unchanged claim is known. */
    changes: z.number().int(),
  }),
);

export const clusterClaimKey: Key = { pk: 'LIMITS', sk: 'CLUSTER' };

/** A job as far as it claims the cluster; `cluster_owner` is null for jobs on other compute. */
interface ClusterJob {
  cluster_owner: string | null;
}

/** The write by which a job claims the cluster, refused while another owner has it. Nothing for jobs on other compute. */
export function claimCluster({ cluster_owner }: ClusterJob, isShared: boolean): Write[] {
  if (cluster_owner === null) return [];
  const owner_id = isShared ? everybody : cluster_owner;
  const free = { any: [{ absent: ['clusters'] }, { atMost: { clusters: 0 } }, { equals: { owner_id } }] };
  const set = { owner_id, record_type: claim.kind, schema_version: 0 };
  return [
    {
      update: clusterClaimKey,
      change: { set, add: { clusters: 1, changes: 1 } },
      ...(!isShared && { if: free }),
    },
  ];
}

/** The write by which a job that ends gives its part of the cluster back. */
export const releaseCluster = ({ cluster_owner }: ClusterJob): Write[] =>
  cluster_owner === null ? [] : [{ update: clusterClaimKey, change: { add: { clusters: -1, changes: 1 } } }];

/** The claim as it was before all unfinished jobs were read, and those of them that are on clusters. */
export interface ClusterAudit {
  add(job: ClusterJob): void;
  /** Correct the count if no job on a cluster has begun or ended since, and it is another than was read. */
  correct(): Promise<void>;
}

/** Begin to compare the claim with the unfinished jobs that are read from now on. */
export async function auditCluster(records: TableWriter<'records'>): Promise<ClusterAudit> {
  const item = await records.get(clusterClaimKey);
  const before = item && claim.parse(item);
  let found = 0;
  return {
    add({ cluster_owner }) {
      if (cluster_owner !== null) found += 1;
    },
    async correct() {
      if (before === undefined || before.clusters === found) return;
      const change = { set: { clusters: found }, add: { changes: 1 } };
      const unmoved = { equals: { changes: before.changes } };
      await tryWrite(records.write({ update: clusterClaimKey, change, if: unmoved }));
    },
  };
}
