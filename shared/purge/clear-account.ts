import type { Deadline } from '../core/deadline.ts';
import { forgetTrusts } from '../data/accounts/ci-trust.ts';
import { type ClosedAccount, forgetClosedAccount } from '../data/accounts/closed-account.ts';
import { forgetIdentities } from '../data/accounts/identity.ts';
import { picturesPrefix } from '../data/accounts/picture.ts';
import { userPartition } from '../data/accounts/user.ts';
import { budgetPartition, monthsPartition } from '../data/jobs/budget.ts';
import type { OptimizationKind } from '../data/jobs/job.ts';
import type { OwnedList } from '../data/lists/owned-list.ts';
import { disownCompression, listOwnCompressions } from '../data/models/compression.ts';
import { ownedModels } from '../data/models/model.ts';
import { leaveProject } from '../data/projects/member.ts';
import { ownedProjects } from '../data/projects/project.ts';
import { recordPurge } from '../data/projects/purge.ts';
import { activeSchedulesPartition } from '../data/schedules/active-schedules.ts';
import { pagesOf } from '../data/table/pages-of.ts';
import type { TableWriter } from '../data/table/table.ts';
import { tryWrite } from '../data/table/write-label.ts';
import { cancelWaitingOf } from '../jobs/waiting-queue.ts';
import { type Pass, removeItems } from './run-purge.ts';

/**
 * Remove the leftovers of a deleted user: the name on projects, models and compressions, which stay; memberships of
 * other projects; waiting jobs; trusts; identities; tokens; and pictures, by a separate purge. Return true once all are removed; false
 * if time ran out. The closed account is kept until no request of the user can still be running, and then
 * processed again. Running it twice at once is harmless.
 */
export async function clearAccount(
  { accounts, records }: Tables,
  closed: ClosedAccount,
  hasTime: Deadline,
  now: Date,
): Promise<boolean> {
  const { user_id, closed_at } = closed;
  for (const kind of owned) {
    if ((await disownAll(records, user_id, kind, hasTime)) === 'stopped') return false;
  }
  if (!(await cancelWaitingOf(records, user_id, hasTime, now))) return false;
  await purgePictures(records, closed);
  await forgetTrusts(accounts, user_id);
  await forgetIdentities(accounts, user_id);
  if ((await removeItems(accounts, { pk: userPartition(user_id) }, hasTime)) === 'stopped') return false;
  const allEnded = Date.parse(closed_at) + lateSeconds * 1000 <= now.getTime();
  if (allEnded) await forgetClosedAccount(accounts, user_id);
  return true;
}

interface Tables {
  accounts: TableWriter<'accounts'>;
  records: TableWriter<'records'>;
}

const projects: Owned = { list: ownedProjects.list, disown: leaveProject };

const ownCompressions = (kind: OptimizationKind): Owned => ({
  list: (records, owner_id, after) => listOwnCompressions(records, kind, owner_id, after),
  disown: (records, owner_id, id) => disownCompression(records, kind, owner_id, id),
});

const owned: readonly Owned[] = [
  projects,
  ownedModels,
  ownCompressions('prune'),
  ownCompressions('quantize'),
];

/** A kind of resource that a user owns, and that outlives the user. */
type Owned = Pick<OwnedList, 'list' | 'disown'>;

async function disownAll(
  records: Tables['records'],
  owner_id: string,
  { list, disown }: Owned,
  hasTime: Deadline,
): Promise<Pass> {
  let outcome: Pass = 'clean';
  for await (const page of pagesOf((after) => list(records, owner_id, after))) {
    for (const id of page.items) {
      if (!hasTime()) return 'stopped';
      await disown(records, owner_id, id);
      outcome = 'removed';
    }
  }
  return outcome;
}

/** Schedule the purge of pictures once. Its id is the user's id, so a repetition finds it. */
async function purgePictures(
  records: Tables['records'],
  { user_id, closed_at }: ClosedAccount,
): Promise<void> {
  const partitions = [
    budgetPartition(user_id),
    monthsPartition(user_id),
    activeSchedulesPartition(user_id),
  ].map((pk) => ({ pk }));
  const target = { partitions, prefixes: [picturesPrefix(user_id)] };
  const write = recordPurge({ purge_id: user_id, created_at: closed_at, target, again_at: null });
  await tryWrite(records.write({ ...write, if: { exists: false } }));
}

/**
 * Seconds, longer than any request can run. A request that was running when its user was deleted may still create
 * a project in their name.
 */
const lateSeconds = 15 * 60;
