import * as z from 'zod';
import { FileId } from '../core/formats.ts';
import { sizeRange } from '../data/jobs/size-range.ts';
import { RunRules } from '../data/projects/run-rules.ts';
import { integer } from '../http/definition/parameters.ts';
import { sizeParameters } from '../jobs/size.ts';
import { scheduleFields } from './schedule-fields.ts';

/** Body of the request that makes a schedule. It reports all faults at once. */
export const ScheduleSpec = z
  .strictObject({
    ...scheduleFields,
    config: FileId.optional().describe(
      'File name of the configuration to train with, such as `train.yaml`. Default: the only one, or the one trained last.',
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
