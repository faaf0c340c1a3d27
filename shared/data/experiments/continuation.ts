import { jobPartition } from '../jobs/job.ts';
import { finalRank } from '../jobs/job-status.ts';
import type { Key, TableReader, Write } from '../table/table.ts';
import { type Experiment, experimentKey } from './experiment.ts';

const continuationPrefix = 'CONTINUATION#';
const continuationKey = (from: string, experiment_id: string): Key => ({
  pk: jobPartition(from),
  sk: `${continuationPrefix}${experiment_id}`,
});

/** Build the writes that protect the checkpoints that a new experiment starts from, until its end. */
export const keepCheckpoints = ({ project_id, experiment_id, continues_from }: Experiment): Write[] =>
  continues_from === null
    ? []
    : [
        {
          update: experimentKey(project_id, continues_from),
          change: { add: { continuations: 1 } },
          if: { equals: { status_rank: finalRank } },
        },
        {
          put: {
            ...continuationKey(continues_from, experiment_id),
            record_type: 'continuation',
            schema_version: 0,
          },
        },
      ];

/** Build the write that releases these checkpoints when the experiment ends. */
export const releaseCheckpoints = ({ experiment_id, continues_from }: Experiment): Write[] =>
  continues_from === null ? [] : [{ delete: continuationKey(continues_from, experiment_id) }];

/**
 * Return the id of an unfinished experiment that started from the checkpoints of this one. Return undefined if
 * none exists.
 */
export async function findContinuation(
  records: TableReader<'records'>,
  experiment_id: string,
): Promise<string | undefined> {
  const query = { pk: jobPartition(experiment_id), prefix: continuationPrefix, limit: 1 };
  return (await records.query(query)).items[0]?.sk.slice(continuationPrefix.length);
}
