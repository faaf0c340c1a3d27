import { writeProjectObjects } from '../../aws/needs.ts';
import { within } from '../../core/needs.ts';
import { unfinishedPatterns } from '../../data/job.ts';
import { writeRecords } from '../../data/needs.ts';
import { projectPatterns } from '../../data/project.ts';
import { limitPatterns } from '../../data/vcpu-shares.ts';

/** What the role of a training's container reaches in the records table: nothing that says who may do what. */
const trainingRecords = {
  partitions: [
    'EXPERIMENTS#*',
    'EXPERIMENT_RANKING#*',
    'JOB#*',
    'TRACKING#*',
    ...unfinishedPatterns,
    ...limitPatterns,
    'COUNTERS#*',
    'ENVIRONMENT#*',
    'ENVIRONMENT_PACKS#*',
  ],
  checked: projectPatterns,
};

/** What the program of a training needs. */
export const trainingNeeds = {
  records: /* @__PURE__ */ within(writeRecords, trainingRecords),
  objects: writeProjectObjects,
};
