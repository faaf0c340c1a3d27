import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';

/*
 * Nodes of a cluster reach one another on every port. A security group belongs to a compute environment, not to a
 * job, so nodes of one cluster reach those of any other. Therefore only the clusters of one owner run at a time.
 * The transactions that begin and end their jobs count them in the claim.
 */

/** Owner of a shared claim. If the deployment stops sharing, all clusters end before another begins. */
const everybody = 'everybody';

const claim = recordType('cluster-claim', () =>
  z.object({
    /** Owner of the projects whose clusters are unfinished. `everybody` if owners share the cluster. */
    owner_id: z.union([Ulid, z.literal(everybody)]),
    /** Unfinished jobs on clusters. */
    clusters: z.number().int(),
    /** Number of jobs that began or ended. Writes use it to detect changes. */
    changes: z.number().int(),
  }),
);

export const clusterClaimKey: Key = { pk: 'LIMITS', sk: 'CLUSTER' };

/** Field of a job that the claim uses. `cluster_owner` is null for jobs on other compute. */
interface ClusterJob {
  cluster_owner: string | null;
}

/**
 * Build the write that claims the cluster for a job. It fails while another owner has the claim. Return none for
 * jobs on other compute.
 */
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

/** Build the write that releases the claim of a job that ends. */
export const releaseCluster = ({ cluster_owner }: ClusterJob): Write[] =>
  cluster_owner === null ? [] : [{ update: clusterClaimKey, change: { add: { clusters: -1, changes: 1 } } }];

/**
 * Audit of the claim: its state before the read of all unfinished jobs, and the number of those jobs on clusters.
 */
export interface ClusterAudit {
  add(job: ClusterJob): void;
  /** Correct the count if it differs from the jobs, and no job on a cluster has begun or ended since. */
  correct(): Promise<void>;
}

/** Begin an audit of the claim. The caller then adds every unfinished job that it reads. */
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
