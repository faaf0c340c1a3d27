import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import { objectWriter } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { putExperiment, requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { type Lease, takeLease } from '../../../shared/data/jobs/lease.ts';
import { countersKey, createProject, parseCounters } from '../../../shared/data/projects/project.ts';
import { tableWriter } from '../../../shared/data/table/table-writer.ts';
import { testBucket } from '../../support/emulators.ts';
import { experimentOf } from '../../support/experiment.ts';
import { projectOf } from '../../support/project.ts';
import { testEnvironment } from '../../support/service.ts';

/** A running experiment on record whose lease is held, on the engines that all test files share. */
export async function leasedExperiment() {
  const environment = await testEnvironment();
  const records = tableWriter(dynamoDb(environment), 'records', environment['RECORDS_TABLE'] ?? '');
  const objects = objectWriter(s3(environment), testBucket);
  const project_id = newId();
  const at = new Date().toISOString();
  await createProject(records, projectOf(project_id));
  const experiment = experimentOf(project_id, null);
  const lease: Lease = {
    holder: newId(),
    number: 1,
    batch_job_id: 'b',
    batch_attempt: 1,
    taken_at: at,
    heartbeat_at: at,
  };
  await records.write(putExperiment(experiment), takeLease(experiment.experiment_id, 0, lease, undefined));

  return {
    records,
    objects,
    experiment,
    lease,
    /** Gives the lease to somebody else, who is returned. */
    async takeOver(): Promise<Lease> {
      const next = { ...lease, holder: newId(), number: 2 };
      await records.write(takeLease(experiment.experiment_id, 0, next, lease));
      return next;
    },
    /** What the experiment and its project count, and the objects that the bucket holds. */
    async counts() {
      const { artifacts, artifact_bytes, checkpoints, checkpoint_bytes } = await requireExperiment(
        records,
        project_id,
        experiment.experiment_id,
      );
      const item = await records.get(countersKey(project_id));
      const project = item && parseCounters(item);
      const stored = (await objects.list(`projects/${project_id}/`)).objects;
      return {
        artifacts,
        artifact_bytes,
        checkpoints,
        checkpoint_bytes,
        objects: project?.objects,
        bytes: project?.bytes,
        stored: stored.length,
        storedBytes: stored.reduce((sum, { size }) => sum + size, 0),
      };
    },
  };
}

export type LeasedExperiment = Awaited<ReturnType<typeof leasedExperiment>>;
