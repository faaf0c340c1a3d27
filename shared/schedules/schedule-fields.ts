import * as z from 'zod';
import { line } from '../core/text/text-rules.ts';
import { Overlap } from '../data/schedules/overlap.ts';
import { decimalAbove } from '../http/definition/parameters.ts';
import { CronText, minMinutes, ZoneName } from './cron.ts';

/** Name of a schedule in requests and archives. */
export const ScheduleName = line(100);

/** US$ that each run may cost. */
export const ScheduleBudget = decimalAbove(0, 1_000_000);

/** When a schedule runs and what a run may cost, without what its training takes: `mps` checks it before it sends anything. */
export const scheduleFields = {
  name: ScheduleName.optional().describe('Name for people, such as `nightly`. Default: `schedule`.'),
  cron: CronText.describe(
    `When it runs, as five fields of cron: minute, hour, day of month, month, day of week, such as \`0 3 * * 1-5\`. At most once in ${minMinutes} minutes.`,
  ),
  zone: ZoneName.default('UTC').describe(
    'Time zone of the fields, by its IANA name, such as `Europe/Berlin`. Default: `UTC`.',
  ),
  overlap: Overlap.default('skip').describe(
    'If the run before has not ended: `skip`, or `queue` one run until then. Default: `skip`.',
  ),
  budget: ScheduleBudget.optional().describe(
    'US$ that each run may cost, such as `5`; at least what a minute costs. Default: up to its timeout.',
  ),
};

/** Fields of a schedule alone. It reports all faults at once. */
export const ScheduleFields = z.object(scheduleFields);
