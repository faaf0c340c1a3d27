import type { Write } from '../table/table.ts';
import {
  closed,
  type Dealt,
  formerLimitKey,
  type Reservation,
  rounded,
  type Share,
  share,
  shareKey,
  sharesOf,
  sum,
} from './vcpu-shares.ts';

const byFree = (one: Share, other: Share): number => other.free - one.free;

/** Deal out `more` tokens, or take back as many as are free where that is negative. Return what could not be taken. */
function deal(shares: readonly Share[], more: number, count: number): number {
  let left = more;
  if (more > 0) {
    const each = Math.floor(more / count);
    for (const one of shares.slice(0, count)) {
      const tokens = one.index === 0 ? more - each * (count - 1) : each;
      one.capacity += tokens;
      one.free += tokens;
      left -= tokens;
    }
    return left;
  }
  for (const one of [...shares].sort(byFree)) {
    const tokens = Math.min(Math.max(0, one.free), -left);
    one.capacity -= tokens;
    one.free -= tokens;
    left += tokens;
  }
  return left;
}

/**
 * The writes that make the tokens those of the limit, less what jobs of earlier releases hold. Tokens that are with
 * jobs are taken back as these end; until then no job begins. Nothing where all is right.
 */
export function dealWrites({ shares, former }: Dealt, limit: number): Write[] {
  const count = sharesOf(limit);
  const more = rounded(limit - (former ?? 0) - sum(shares.map(({ capacity }) => capacity)));
  const dealt = shares.map((one) => ({ ...one }));
  const owed = deal(dealt, more, count);
  const noted = owed < 0 ? closed : limit;
  const writes = dealt.map((one, index): Write | undefined => {
    const before = shares[index] ?? one;
    const key = shareKey(index);
    if (one.isNew && index >= count) return undefined;
    const { capacity, free } = one;
    if (one.isNew) {
      const value = { limit: noted, capacity, free, changes: 0 };
      return { put: share.item(key, value), if: { exists: false } };
    }
    const unmoved =
      before.capacity === 0
        ? { any: [{ absent: ['capacity'] }, { equals: { capacity: 0 } }] }
        : { equals: { capacity: before.capacity } };
    if (capacity === before.capacity && before.limit === noted) return { check: key, if: unmoved };
    const tokens = capacity - before.capacity;
    return {
      update: key,
      change: { set: { limit: noted }, add: { capacity: tokens, free: tokens } },
      if: tokens < 0 ? { ...unmoved, atLeast: { free: -tokens } } : unmoved,
    };
  });
  const changes = writes.filter((write) => write !== undefined);
  if (changes.every((write) => 'check' in write)) return [];
  const fromFormer = former === undefined ? { absent: ['vcpus'] } : { equals: { vcpus: former } };
  return [...changes, { check: formerLimitKey, if: fromFormer }];
}

/** The writes by which a job takes its vCPUs where its own share has too few; undefined where all together have. */
export function gatherWrites({ shares }: Dealt, job: Reservation, limit: number): Write[] | undefined {
  const home = shares[job.limit_share ?? 0];
  if (home === undefined || sum(shares.map(({ free }) => Math.max(0, free))) < job.vcpus) return undefined;
  const moves: Write[] = [];
  let moved = 0;
  for (const { index, free } of shares.filter((one) => one !== home).sort(byFree)) {
    const missing = job.vcpus - home.free - moved;
    if (missing <= 0 || free <= 0) break;
    // Half of what the richest has, so that the next job finds some in its own share.
    const tokens = Math.min(free, Math.max(missing, Math.floor(free / 2)));
    moved += tokens;
    moves.push({
      update: shareKey(index),
      change: { add: { free: -tokens, capacity: -tokens, changes: 1 } },
      if: { equals: { limit }, atLeast: { free: tokens } },
    });
  }
  if (home.free + moved < job.vcpus) return undefined;
  const take: Write = {
    update: shareKey(home.index),
    change: { add: { free: moved - job.vcpus, capacity: moved, changes: 1 } },
    if: { equals: { limit }, atLeast: { free: job.vcpus - moved } },
  };
  return [take, ...moves];
}
