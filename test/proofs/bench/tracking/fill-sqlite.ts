import { DatabaseSync } from 'node:sqlite';
import { metricNames, nameTag, searchedRun } from './searched-run.ts';

/** Milliseconds for which the server may hold the database. */
const busyMilliseconds = 60_000;

/** What the tables of a server have besides what all such servers have. */
interface Tables {
  /** Further columns of runs, with the value that all get. */
  runs?: Readonly<Record<string, string | number>>;
  /** Further columns of the latest metrics. */
  metrics?: Readonly<Record<string, string | number>>;
  /** Column of a param's value. */
  paramValue: string;
}

const everyRun = {
  source_type: 'UNKNOWN',
  source_name: '',
  entry_point_name: '',
  user_id: 'bench',
  status: 'FINISHED',
  source_version: '',
  lifecycle_stage: 'active',
  artifact_uri: '',
};

/** Write runs into the SQLite database of a server of MLflow's kind: by its API ten thousand take a quarter of an hour. */
export function fillSqlite(
  database: string,
  experiment_id: string,
  size: number,
  { runs = {}, metrics = {}, paramValue }: Tables,
): void {
  const constants = { ...everyRun, ...runs };
  const db = new DatabaseSync(database);
  try {
    db.exec(`PRAGMA busy_timeout = ${busyMilliseconds}`);
    db.exec('BEGIN IMMEDIATE');
    const insert = (table: string, columns: readonly string[]) =>
      db.prepare(
        `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      );
    const run = insert('runs', [
      'run_uuid',
      'name',
      'start_time',
      'end_time',
      'experiment_id',
      ...Object.keys(constants),
    ]);
    const metric = insert('latest_metrics', [
      'run_uuid',
      'key',
      'value',
      'timestamp',
      'step',
      'is_nan',
      ...Object.keys(metrics),
    ]);
    const param = insert('params', ['run_uuid', 'key', paramValue]);
    const tag = insert('tags', ['run_uuid', 'key', 'value']);
    for (let index = 0; index < size; index += 1) {
      const id = `f${experiment_id.padStart(7, '0').slice(-7)}${index.toString(16).padStart(24, '0')}`;
      const { name, time, value, params, tags } = searchedRun(index);
      run.run(id, name, time, time, Number(experiment_id), ...Object.values(constants));
      for (const key of metricNames) metric.run(id, key, value, time, 0, 0, ...Object.values(metrics));
      for (const [key, text] of Object.entries(params)) param.run(id, key, text);
      for (const [key, text] of Object.entries({ ...tags, [nameTag]: name })) tag.run(id, key, text);
    }
    db.exec('COMMIT');
  } finally {
    db.close();
  }
}
