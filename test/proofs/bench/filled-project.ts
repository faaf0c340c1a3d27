import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import type { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import { recordsTable } from '../../../infra/local/start/function-environment.ts';
import type { Session } from '../../../infra/tools/demo/demo-service.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { markNew } from '../../../shared/data/experiments/catalogue-mark.ts';
import { emptyExperiment, putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { newJob } from '../../../shared/data/jobs/job.ts';
import { count } from '../../../shared/data/projects/project.ts';
import { sweepsPartition } from '../../../shared/data/sweeps/sweep.ts';
import { runsPartition } from '../../../shared/data/sweeps/sweep-run.ts';
import type { TableWriter, Write } from '../../../shared/data/table/table.ts';
import { tableWriter } from '../../../shared/data/table/table-writer.ts';
import { projectText } from './project-records.ts';

/**
 * Create a project with so many trainings that wait in line, trials of a sweep and messages of hooks. They go straight
 * into the engine, for to begin 1,000 takes minutes. Searches then fold the trainings, as they fold those of a user.
 */
export async function filledProject(
  { client, user_id }: Session,
  engineUrl: string,
  size: number,
): Promise<string> {
  const { project_id } = await client.call<typeof createProject>('POST /projects/', { query: projectText });
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
  const engine = new DynamoDBClient({ region: 'us-east-1', endpoint: engineUrl, credentials });
  try {
    const records = tableWriter(DynamoDBDocumentClient.from(engine), 'records', recordsTable);
    await fill(records, project_id, user_id, size);
  } finally {
    engine.destroy();
  }
  const query = { filter: "status = 'FAILED'" };
  for (let turn = 0; turn < searches; turn += 1)
    await client.call<typeof listExperiments>('GET /projects/{project_id}/experiments', {
      path: { project_id },
      query,
    });
  return project_id;
}

/** More than fold a thousand. */
const searches = 15;

/** What a project may hold many of. */
export const filledSizes = { few: 10, many: 1000 } as const;

const trainingSize = { vcpus: 1, memory: 2048, gpus: 0, nodes: 1, timeout: 60, limits: null };

/** Trainings that wait in line, trials of a sweep and messages to hooks, as the service records them. */
async function fill(
  records: TableWriter<'records'>,
  project_id: string,
  user_id: string,
  size: number,
): Promise<void> {
  const row = (pk: string, sk: string, record_type: string): Write => ({
    put: { pk, sk, record_type, schema_version: 0 },
  });
  const sweep_id = newId();
  await records.write(row(sweepsPartition(project_id), sweep_id, 'sweep'));
  for (let from = 0; from < size; from += chunk) {
    const created_at = new Date().toISOString();
    const writes = Array.from({ length: Math.min(chunk, size - from) }, (_, index): Write[] => {
      const experiment_id = newId();
      const job = newJob({ ...trainingSize, user_id, created_at, limit_share: null });
      const waits = { line_ticket: from + index + 1, kind: 'train' as const };
      const run = `${sweep_id}#RUN#${String(from + index).padStart(6, '0')}`;
      return [
        putExperiment({ ...emptyExperiment, ...job, ...waits, experiment_id, project_id }),
        markNew(project_id, experiment_id),
        row(runsPartition(project_id), run, 'sweep-run'),
        row(`DELIVERIES#${project_id}`, newId(), 'delivery'),
      ];
    });
    await records.write(...writes.flat(), count(project_id, { experiments: writes.length }));
  }
}

const chunk = 20;
