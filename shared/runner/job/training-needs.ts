import { writeTrainingObjects } from '../../aws/needs.ts';
import { within } from '../../core/needs.ts';
import { exportSteps } from '../../data/experiments/export-step.ts';
import { readHookEvents } from '../../data/hooks/hook.ts';
import { notices } from '../../data/hooks/notice.ts';
import { monthPatterns, readBudgets } from '../../data/jobs/budget.ts';
import { unfinishedPatterns } from '../../data/jobs/job.ts';
import { limitPatterns } from '../../data/jobs/vcpu-shares.ts';
import { projectPatterns } from '../../data/projects/project.ts';
import { scheduleTimes } from '../../data/schedules/schedule-time.ts';
import { reportPatterns } from '../../data/sweeps/rung.ts';
import { sweepTurns } from '../../data/sweeps/sweep-turn.ts';
import { writeRecords } from '../../data/table/needs.ts';

/**
 * Partitions of the records table that the role of a training's container may access. None contains permissions.
 */
const trainingRecords = {
  partitions: [
    'EXPERIMENTS#*',
    // For trainings that an earlier release started. That release ranked them at their end.
    'EXPERIMENT_RANKING#*',
    'FIRST_CRITERION#*',
    'JOB#*',
    'TRACKING#*',
    // Experiments and models that the program records in addition to its own.
    'CATALOGUE#*',
    'LOGGED_MODELS#*',
    // The end of a run of a sweep or schedule, and values at rungs.
    ...sweepTurns.partitions,
    ...scheduleTimes.partitions,
    // The end of an export.
    ...exportSteps.partitions,
    ...notices.partitions,
    ...reportPatterns,
    ...unfinishedPatterns,
    ...limitPatterns,
    ...monthPatterns,
    'COUNTERS#*',
    'ENVIRONMENT#*',
    'ENVIRONMENT_PACKS#*',
  ],
  checked: projectPatterns,
};

/** Needs of the program of a training. */
export const trainingNeeds = {
  records: /* @__PURE__ */ within(writeRecords, trainingRecords),
  hookEvents: readHookEvents,
  budgets: readBudgets,
  objects: writeTrainingObjects,
};
