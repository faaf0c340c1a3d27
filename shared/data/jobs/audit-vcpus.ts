import type { TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/try-write.ts';
import { formerLimitKey, type Reservation, readDealt, rounded, type Share, shareKey } from './vcpu-shares.ts';

/** The shares as they were before all unfinished jobs were read, and what these hold. */
export interface VcpuAudit {
  add(job: Reservation): void;
  /** Correct the shares of which no job has begun or ended since, where they say otherwise than their jobs. */
  correct(): Promise<void>;
}

/** Begin to compare the shares with the unfinished jobs that are read from now on. */
export async function auditVcpus(records: TableWriter<'records'>): Promise<VcpuAudit> {
  const before = await readDealt(records);
  const held = new Map<number | null, number>();
  const correctShare = async ({ index, isNew, capacity, free, changes }: Share): Promise<void> => {
    const was = before.shares[index];
    const drift = rounded(capacity - free - (held.get(index) ?? 0));
    if (isNew || was?.isNew !== false || was.changes !== changes || drift === 0) return;
    const change = { add: { free: drift, changes: 1 } };
    await tryWrite(records.write({ update: shareKey(index), change, if: { equals: { changes, free } } }));
  };
  return {
    add: ({ vcpus, limit_share }) => void held.set(limit_share, (held.get(limit_share) ?? 0) + vcpus),
    async correct() {
      const { shares, former } = await readDealt(records);
      for (const one of shares) await correctShare(one);
      if (held.has(null) || former === undefined || former === 0 || former !== before.former) return;
      const write: Write = {
        update: formerLimitKey,
        change: { set: { vcpus: 0 } },
        if: { equals: { vcpus: former } },
      };
      await tryWrite(records.write(write));
    },
  };
}
