import { writeObjects } from '../../aws/needs.ts';
import { within } from '../../core/needs.ts';
import { readHookEvents } from '../../data/hooks/hook.ts';
import { notices } from '../../data/hooks/notice.ts';
import { monthPatterns, readBudgets } from '../../data/jobs/budget.ts';
import { type OptimizationKind, unfinishedPatterns } from '../../data/jobs/job.ts';
import { limitPatterns } from '../../data/jobs/vcpu-shares.ts';
import { compressionPatterns } from '../../data/models/compression.ts';
import { writeRecords } from '../../data/table/needs.ts';

/**
 * Partitions of the records table that the role of an optimization's container may access. None contains
 * permissions.
 */
export const optimizationRecords = (kind: OptimizationKind) =>
  within(writeRecords, {
    partitions: [
      ...compressionPatterns(kind),
      'JOB#*',
      ...unfinishedPatterns,
      ...limitPatterns,
      ...monthPatterns,
      'MODELS',
      'OWNED_MODELS#*',
      ...notices.partitions,
    ],
  });

/** Objects of models and of results. */
export const optimizationObjects = /* @__PURE__ */ within(writeObjects, {
  prefixes: ['models/', 'strategies/'],
});

/** Needs of the program of an optimization. */
export const optimizationNeeds = (kind: OptimizationKind) => ({
  records: optimizationRecords(kind),
  hookEvents: readHookEvents,
  budgets: readBudgets,
  objects: optimizationObjects,
});
