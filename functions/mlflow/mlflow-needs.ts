import { writeProjectObjects } from '../../shared/aws/needs.ts';
import { within } from '../../shared/core/needs.ts';
import { writePasswords } from '../../shared/data/accounts/needs.ts';
import { cataloguePartition } from '../../shared/data/experiments/catalogue-mark.ts';
import { experimentsPartition } from '../../shared/data/experiments/experiment.ts';
import {
  loggedModelFilesPartition,
  loggedModelsPartition,
} from '../../shared/data/experiments/logged-model.ts';
import { notices } from '../../shared/data/hooks/notice.ts';
import { jobPartition } from '../../shared/data/jobs/job.ts';
import { trackingPartition } from '../../shared/data/metrics/metric-summaries.ts';
import { modelVersions, registeredModels } from '../../shared/data/models/registered-model.ts';
import { firstCriterionPartition } from '../../shared/data/projects/inferred-criterion.ts';
import { newProjectPatterns } from '../../shared/data/projects/project.ts';
import { retainedList, unfinishedPurges } from '../../shared/data/projects/purge.ts';
import { readRecords, writeRecords } from '../../shared/data/table/needs.ts';

/**
 * It writes projects, what clients record of runs and logged models, and the model registry. It reads all records, as searches
 * do, and checks passwords.
 */
export const mlflowNeeds = {
  records: within(writeRecords, {
    partitions: [
      ...newProjectPatterns(),
      ...[
        experimentsPartition,
        trackingPartition,
        cataloguePartition,
        jobPartition,
        firstCriterionPartition,
        loggedModelsPartition,
        loggedModelFilesPartition,
      ].map((partitionOf) => partitionOf('*')),
      ...[registeredModels, modelVersions],
      ...[unfinishedPurges, retainedList, notices].flatMap(({ partitions }) => partitions),
    ],
  }),
  allRecords: readRecords,
  objects: writeProjectObjects,
  accounts: writePasswords,
};
