import * as z from 'zod';
import { FileId } from '../core/formats.ts';
import { line } from '../core/text/text-rules.ts';
import { sizeRange } from '../data/jobs/size-range.ts';
import { RunRules } from '../data/projects/run-rules.ts';
import { Overlap } from '../data/schedules/schedule.ts';
import { decimalAbove, integer } from '../http/definition/parameters.ts';
import { sizeParameters } from '../jobs/size.ts';
import { CronText, minMinutes, ZoneName } from './cron.ts';

/** Name of a schedule in requests and archives. */
export const ScheduleName = line(100);

/** US$ that each run may cost. */
export const ScheduleBudget = decimalAbove(0, 1_000_000);

/** Body of the request that makes a schedule. It reports all faults at once. */
export const ScheduleSpec = z
  .strictObject({
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
    config: FileId.optional().describe(
      'File name of the configuration to train with, such as `train.yaml`. Default: the only one, or the one trained last.',
    ),
    budget: ScheduleBudget.optional().describe(
      'US$ that each run may cost, such as `5`; at least what a minute costs. Default: up to its timeout.',
    ),
    rules: RunRules.optional().describe(
      'Rules of each run, besides those of the project, such as `[{"nan": "loss", "do": "stop"}]`.',
    ),
    ...sizeParameters,
    nodes: integer(...sizeRange.nodes)
      .optional()
      .describe('Nodes of each run; a cluster from 2 on.'),
  })
  .meta({
    examples: [{ name: 'nightly', cron: '0 3 * * 1-5', zone: 'Europe/Berlin', config: 'train.yaml' }],
  });
export type ScheduleSpec = z.output<typeof ScheduleSpec>;
