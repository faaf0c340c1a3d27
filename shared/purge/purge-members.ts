import type { Deadline } from '../core/deadline.ts';
import { membersPartition, removeMembers } from '../data/projects/member.ts';
import type { TableWriter } from '../data/table/table.ts';

/**
 * Remove the members of a deleted project, which accepts no new ones, and remove the project from their lists.
 * Return true once none is left; false if time ran out.
 */
export async function purgeMembers(
  records: TableWriter<'records'>,
  project_id: string,
  hasTime: Deadline,
): Promise<boolean> {
  for (;;) {
    if (!hasTime()) return false;
    const { items } = await records.query({ pk: membersPartition(project_id), limit: membersAtOnce });
    if (items.length === 0) return true;
    await removeMembers(records, items);
  }
}

/**
 * Maximum number of members that one transaction removes. It also removes each member's row on the member's own
 * list.
 */
const membersAtOnce = 25;
