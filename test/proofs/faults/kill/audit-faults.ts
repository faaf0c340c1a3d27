import { decodeTime } from 'ulid';
import type { Item } from '../../../../shared/data/table/table.ts';
import { isAudited } from '../../../../shared/http/definition/definition.ts';
import { endpoints } from '../world/endpoints.ts';
import type { Deed } from './request-story.ts';

/**
 * What is wrong with the audit after a deed that was killed and done again: it has one record of each request that wrote,
 * and none besides.
 */
export function auditFaults(deed: Deed, before: readonly Item[], after: readonly Item[]): string[] {
  if (!('request' in deed) || !isAudited(endpoints[deed.request.endpoint])) return [];
  const known = new Set(before.map(({ sk }) => sk));
  const requests = after.filter(({ sk }) => !known.has(sk)).map((item) => item['request_id']);
  const faults: string[] = [];
  if (requests.length === 0 && !before.some(isHourly))
    faults.push(`lost: the audit has no record of ${deed.request.endpoint}`);
  if (new Set(requests).size < requests.length)
    faults.push(`count: the audit has a request of ${deed.request.endpoint} twice`);
  // The killed one and its repetition.
  if (requests.length > 2)
    faults.push(`count: the audit has ${requests.length} records of ${deed.request.endpoint}`);
  return faults;
}

/** Whether a record stands for all equal requests of an hour: its id begins with that. */
const isHourly = ({ sk }: Item): boolean => decodeTime(sk.toUpperCase()) % 3_600_000 === 0;
