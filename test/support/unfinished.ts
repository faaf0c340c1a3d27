import { listUnfinished, type UnfinishedJob } from '../../shared/data/jobs/job.ts';
import { shareKey } from '../../shared/data/jobs/vcpu-shares.ts';
import type { WatchedPosition } from '../../shared/data/lists/watched-list.ts';
import type { Item, TableReader } from '../../shared/data/table/table.ts';

type Records = TableReader<'records'>;

/** Every job on the list of unfinished ones. */
export async function unfinishedOf(records: Records): Promise<UnfinishedJob[]> {
  const jobs: UnfinishedJob[] = [];
  let position: WatchedPosition | undefined;
  do {
    const page = await listUnfinished(records, position);
    jobs.push(...page.items);
    position = page.next;
  } while (position !== undefined);
  return jobs;
}

/** The shares of the vCPU limit that there are. */
export async function sharesOf(records: Records): Promise<Item[]> {
  const keys = Array.from({ length: 16 }, (_, index) => shareKey(index));
  return (await records.batchGet(keys)).filter((item) => item !== undefined);
}

/** vCPUs that unfinished jobs hold, as the limits count them. */
export async function heldVcpus(records: Records): Promise<number> {
  const held = (await sharesOf(records)).map(({ capacity, free }) => Number(capacity) - Number(free));
  return held.reduce((sum, one) => sum + one, 0);
}
