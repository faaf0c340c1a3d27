import { writeObjects } from '../../aws/needs.ts';
import { within } from '../../core/needs.ts';
import { type OptimizationKind, unfinishedPatterns } from '../../data/job.ts';
import { writeRecords } from '../../data/needs.ts';
import { strategyPatterns } from '../../data/strategy.ts';
import { limitPatterns } from '../../data/vcpu-shares.ts';

/**
 * Partitions of the records table that the role of an optimization's container may use: none that holds permissions.
 */
export const optimizationRecords = (kind: OptimizationKind) =>
  within(writeRecords, {
    partitions: [
      ...strategyPatterns(kind),
      'JOB#*',
      ...unfinishedPatterns,
      ...limitPatterns,
      'MODELS',
      'OWNED_MODELS#*',
    ],
  });

/** Models, and what is made of them. */
export const optimizationObjects = /* @__PURE__ */ within(writeObjects, {
  prefixes: ['models/', 'strategies/'],
});
