import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ulid } from 'ulid';
import { loggedExperiment } from '../../../functions/experiments/record-logged.ts';
import { catalogueLists } from '../../../shared/data/catalogue.ts';
import { cataloguePartition } from '../../../shared/data/catalogue-mark.ts';
import { type Experiment, putExperiment } from '../../../shared/data/experiment.ts';
import { type ExperimentRow, rowOf } from '../../../shared/data/experiment-row.ts';
import { rankOf } from '../../../shared/data/job-status.ts';
import { putMetricPart } from '../../../shared/data/metric-summaries.ts';
import { packSegments } from '../../../shared/data/pack-segments.ts';
import { count } from '../../../shared/data/project.ts';
import type { TableWriter } from '../../../shared/data/table.ts';
import { tableWriter } from '../../../shared/data/table-writer.ts';
import { type ExperimentFields, putFields } from '../../../shared/data/tracking.ts';
import { startDynamoDb } from '../../local/dynamodb/engine.ts';
import { recordsTable } from '../../local/start/function-environment.ts';
import { newProject } from '../project-records.ts';
import { metricNames, paramNames, runTime, runValue } from './searched-run.ts';

/** Three writes a run: a transaction takes 100. */
const runsAtOnce = 33;
const transactionsAtOnce = 4;
const segmentsAtOnce = 20;

interface Recorded {
  experiment: Experiment;
  fields: ExperimentFields;
  metrics: Map<string, { last: number; min: number; max: number; step: number; time: string; count: number }>;
}

/** A run as its client records it by create, log-batch and update. */
function recorded(project_id: string, user_id: string, index: number): Recorded {
  const at = new Date(runTime(index)).toISOString();
  const value = runValue(index);
  const fields: ExperimentFields = {
    name: `run ${index}`,
    note: null,
    tags: {},
    params: Object.fromEntries(paramNames.map((name) => [name, String(index % 7)])),
    git: null,
    updated_at: at,
    version: 1,
  };
  const project = { ...newProject(user_id), project_id };
  const experiment: Experiment = {
    ...loggedExperiment({ project, experiment_id: ulid(runTime(index)).toLowerCase(), user_id, fields }),
    status: 'SUCCEEDED',
    status_rank: rankOf('SUCCEEDED'),
    stopped_at: at,
  };
  const summary = { last: value, min: value, max: value, step: 0, time: at, count: 1 };
  return { experiment, fields, metrics: new Map(metricNames.map((name) => [name, summary])) };
}

async function insert(
  records: TableWriter<'records'>,
  project_id: string,
  user_id: string,
  size: number,
): Promise<void> {
  const rows: ExperimentRow[] = [];
  const write = async (from: number) => {
    const runs = Array.from({ length: Math.min(runsAtOnce, size - from) }, (_, index) =>
      recorded(project_id, user_id, from + index),
    );
    rows.push(...runs.map(({ experiment, fields, metrics }) => rowOf(experiment, { fields, metrics })));
    await records.write(
      ...runs.flatMap(({ experiment, fields, metrics }) => [
        putExperiment(experiment),
        putFields(project_id, experiment.experiment_id, fields, undefined),
        putMetricPart(project_id, experiment.experiment_id, 0, {
          summaries: metrics,
          next_chunk: 1,
          version: 1,
        }),
      ]),
    );
  };
  let next = 0;
  const work = async () => {
    while (next < size) {
      const from = next;
      next += runsAtOnce;
      await write(from);
    }
  };
  await Promise.all(Array.from({ length: transactionsAtOnce }, work));
  rows.sort((one, other) => (one.experiment_id < other.experiment_id ? -1 : 1));
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

/**
 * Write runs that have ended into the records of a service that does not run, with the catalogue as folding leaves it: to
 * record 100,000 by the API takes half an hour.
 * @param file records of the service
 */
export async function insertRuns(
  file: string,
  user_id: string,
  projects: readonly { project_id: string; size: number }[],
): Promise<void> {
  const engine = await startDynamoDb(file);
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({ region: 'us-east-1', endpoint: engine.url, credentials }),
  );
  try {
    const records = tableWriter(client, 'records', recordsTable);
    for (const { project_id, size } of projects) await insert(records, project_id, user_id, size);
  } finally {
    client.destroy();
    await engine.close();
  }
}
