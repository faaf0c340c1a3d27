import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { startDynamoDb } from '../../../../infra/local/dynamodb/start-dynamodb.ts';
import { recordsTable } from '../../../../infra/local/start/function-environment.ts';
import { newId } from '../../../../shared/core/new-id.ts';
import { catalogueLists } from '../../../../shared/data/experiments/catalogue.ts';
import { cataloguePartition } from '../../../../shared/data/experiments/catalogue-mark.ts';
import { type Experiment, putExperiment } from '../../../../shared/data/experiments/experiment.ts';
import { rowOf } from '../../../../shared/data/experiments/experiment-row.ts';
import { packSegments } from '../../../../shared/data/experiments/fold-catalogue.ts';
import { type ExperimentFields, putFields } from '../../../../shared/data/experiments/tracking.ts';
import { count } from '../../../../shared/data/projects/project.ts';
import type { TableWriter } from '../../../../shared/data/table/table.ts';
import { tableWriter } from '../../../../shared/data/table/table-writer.ts';
import { loggedExperiment } from '../../../../shared/experiments/logged-experiment.ts';
import { newProject } from '../project-records.ts';
import { metricNames, searchedRun } from './searched-run.ts';

const segmentsAtOnce = 20;

/** What search knows of a run that its client recorded by create, log-batch and update. */
function runAt(project_id: string, user_id: string, index: number) {
  const { name, time, value, params, tags } = searchedRun(index);
  const at = new Date(time).toISOString();
  const fields: ExperimentFields = {
    name,
    note: null,
    tags: { ...tags },
    params: { ...params },
    git: null,
    updated_at: at,
    version: 1,
  };
  const project = { ...newProject(user_id), project_id };
  const experiment_id = newId(time);
  const experiment = loggedExperiment({ project, experiment_id, caller: { user_id }, fields });
  const summary = { last: value, min: value, max: value, step: 0, time, count: 1 };
  const metrics = new Map(metricNames.map((metric) => [metric, summary]));
  const ended: Experiment = { ...experiment, status: 'SUCCEEDED', stopped_at: at };
  return { experiment: ended, fields, row: rowOf(ended, { fields, metrics }) };
}

async function insert(
  records: TableWriter<'records'>,
  user_id: string,
  { project_id, size, isRead = false }: InsertedProject,
): Promise<void> {
  const runs = Array.from({ length: size }, (_, index) => runAt(project_id, user_id, index));
  const rows = runs.map(({ row }) => row);
  for (let from = 0; isRead && from < size; from += runsAtOnce)
    await records.write(
      ...runs
        .slice(from, from + runsAtOnce)
        .flatMap(({ experiment, fields }) => [
          putExperiment(experiment),
          putFields(project_id, experiment.experiment_id, fields, undefined),
        ]),
    );
  const pk = cataloguePartition(project_id);
  const { segments } = packSegments(rows);
  for (let from = 0; from < segments.length; from += segmentsAtOnce)
    await records.write(
      ...segments
        .slice(from, from + segmentsAtOnce)
        .map(({ ref, packed }) => catalogueLists.putBlock(pk, ref.id, packed)),
    );
  const previous = await catalogueLists.readManifest(records, pk);
  const state = { complete: true, marked_until: null, surplus: 0 };
  const blocks = segments.map(({ ref }) => ref);
  await records.write(
    catalogueLists.putManifest(pk, previous, { blocks, state }),
    count(project_id, { experiments: size }),
  );
}

interface InsertedProject {
  project_id: string;
  size: number;
  /** Write the records of the runs, too, which answers other than MLflow's read. */
  isRead?: boolean;
}

/** A transaction takes 100 writes. */
const runsAtOnce = 50;

/**
 * Write the catalogue of runs that have ended into the records of a service that does not run, as folding leaves it: to
 * record 100,000 by the API takes half an hour. Search through MLflow's API reads the catalogue alone.
 * @param file records of the service
 */
export async function insertRuns(
  file: string,
  user_id: string,
  projects: readonly InsertedProject[],
): Promise<void> {
  const engine = await startDynamoDb(file);
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({ region: 'us-east-1', endpoint: engine.url, credentials }),
  );
  try {
    const records = tableWriter(client, 'records', recordsTable);
    for (const project of projects) await insert(records, user_id, project);
  } finally {
    client.destroy();
    await engine.close();
  }
}
