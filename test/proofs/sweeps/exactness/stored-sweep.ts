import { startDynamoDb } from '../../../../infra/local/dynamodb/start-dynamodb.ts';
import { recordsTable } from '../../../../infra/local/start/function-environment.ts';
import { dynamoDb } from '../../../../shared/aws/dynamodb-client.ts';
import { type Experiment, listExperiments } from '../../../../shared/data/experiments/experiment.ts';
import { listReports, type StoredReport } from '../../../../shared/data/sweeps/rung.ts';
import { requireSweep, type Sweep } from '../../../../shared/data/sweeps/sweep.ts';
import { allRuns, type SweepIds, type SweepRun } from '../../../../shared/data/sweeps/sweep-run.ts';
import { listTurns } from '../../../../shared/data/sweeps/sweep-turn.ts';
import type { TableReader } from '../../../../shared/data/table/table.ts';
import { tableWriter } from '../../../../shared/data/table/table-writer.ts';

/** What is stored of a sweep, and of the project that has nothing else. */
export interface StoredSweep {
  sweep: Sweep;
  runs: SweepRun[];
  reports: StoredReport[];
  experiments: Experiment[];
  /** Decisions that are owed. */
  turns: number;
}

/** Read a sweep from the file of a service that has stopped. */
export async function readStopped(file: string, ids: SweepIds): Promise<StoredSweep> {
  const engine = await startDynamoDb(file);
  try {
    // The engine checks no signatures.
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any' });
    const client = dynamoDb({ AWS_REGION: 'eu-central-1', DYNAMODB_ENDPOINT: engine.url });
    return await readSweep(tableWriter(client, 'records', recordsTable), ids);
  } finally {
    await engine.close();
  }
}

async function readSweep(records: TableReader<'records'>, ids: SweepIds): Promise<StoredSweep> {
  const sweep = await requireSweep(records, ids.project_id, ids.sweep_id);
  const experiments: Experiment[] = [];
  let after: string | undefined;
  do {
    const page = await listExperiments(records, ids.project_id, { limit: 1000, after });
    experiments.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return {
    sweep,
    runs: await allRuns(records, sweep),
    reports: await listReports(records, sweep),
    experiments,
    turns: (await listTurns(records, undefined)).items.length,
  };
}
