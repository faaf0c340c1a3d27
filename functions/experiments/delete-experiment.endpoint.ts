import * as z from 'zod';
import { writeProjectObjects } from '../../shared/aws/needs.ts';
import { Ulid } from '../../shared/core/formats.ts';
import { notFound, ServiceError } from '../../shared/core/service-error.ts';
import { catalogueMark, markRemoved } from '../../shared/data/catalogue-mark.ts';
import { findContinuation } from '../../shared/data/continuation.ts';
import {
  experimentRemains,
  removeExperiment,
  requireExperimentToRemove,
} from '../../shared/data/experiment.ts';
import { foldCatalogue } from '../../shared/data/fold-catalogue.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { count } from '../../shared/data/project.ts';
import { newPurge, recordPurge } from '../../shared/data/purge.ts';
import { unrank } from '../../shared/data/ranking.ts';
import { retryOnConflict } from '../../shared/data/retry-on-conflict.ts';
import type { TableReader } from '../../shared/data/table.ts';
import { ConditionFailedError } from '../../shared/data/write-label.ts';
import { defineEndpoint } from '../../shared/http/definition.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { requirePrecondition } from '../../shared/http/precondition.ts';
import { purgeInRequest } from '../../shared/purge/purge-in-request.ts';
import { experimentPath } from './experiment-path.ts';

/** @throws ServiceError `conflict` while another experiment starts from its checkpoints */
async function requireUncontinued(records: TableReader<'records'>, experiment_id: string): Promise<void> {
  const continuation = await findContinuation(records, experiment_id);
  if (continuation === undefined) return;
  throw new ServiceError(
    'conflict',
    `Experiment ${continuation} starts from its checkpoints; delete it once that one has ended.`,
  );
}

export const endpoint = defineEndpoint({
  name: 'deleteExperiment',
  method: 'DELETE',
  path: '/projects/{project_id}/experiments/{experiment_id}',
  summary: 'Delete an experiment that has ended, with its log, metrics and artifacts',
  allow: 'developer',
  project: 'developer',
  needs: { records: writeRecords, objects: writeProjectObjects },
  input: { path: experimentPath },
  output: {
    200: z.object({
      experiment_id: Ulid,
      deleted: z.object({ objects: z.number().int(), bytes: z.number().int() }),
    }),
  },
  problems: ['conflict', 'precondition-failed'],

  async handle({ path: { project_id, experiment_id } }, context) {
    const { records } = context;
    const { experiment, hasEnded, removable } = await requireExperimentToRemove(
      records,
      project_id,
      experiment_id,
    );
    requirePrecondition(context, experiment.version);
    if (!hasEnded) {
      throw new ServiceError(
        'conflict',
        experiment.kind === 'logged'
          ? `The experiment is ${experiment.status}; set its status with PATCH before it is deleted.`
          : `The experiment is ${experiment.status}; cancel it before it is deleted.`,
      );
    }
    await requireUncontinued(records, experiment_id);
    const deleted = {
      objects: experiment.artifacts + experiment.checkpoints,
      bytes: experiment.artifact_bytes + experiment.checkpoint_bytes,
    };
    const purge = newPurge(context, experimentRemains(project_id, experiment_id));
    let isInSegment = false;
    const write = async () => {
      const mark = await markRemoved(records, project_id, experiment_id);
      isInSegment = mark.remains;
      await records.write(
        removeExperiment(experiment, removable),
        mark.write,
        count(project_id, { experiments: -1, objects: -deleted.objects, bytes: -deleted.bytes }),
        ...unrank(experiment),
        recordPurge(purge),
      );
    };
    try {
      await retryOnConflict(write, { isConflict: (error) => error.isOnly(catalogueMark) });
    } catch (error) {
      // One may have begun at the same moment.
      await requireUncontinued(records, experiment_id);
      throw error instanceof ConditionFailedError ? notFound('experiment', experiment_id) : error;
    }
    if (isInSegment) await foldCatalogue(records, project_id, { milliseconds: 0, least: 1 });
    await purgeInRequest(context, purge);
    return { experiment_id, deleted };
  },
});

export const handler = lambda(endpoint);
