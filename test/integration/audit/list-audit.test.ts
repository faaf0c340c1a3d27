import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as listAudit } from '../../../functions/audit/list-audit.endpoint.ts';
import { endpoint as listProjectAudit } from '../../../functions/audit/list-project-audit.endpoint.ts';
import { endpoint as createNamedToken } from '../../../functions/auth/create-named-token.endpoint.ts';
import { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import { endpoint as cancelExperiment } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as deleteExperiments } from '../../../functions/experiments/records/delete-experiments.endpoint.ts';
import { endpoint as serveMlflow } from '../../../functions/mlflow/serve-mlflow.endpoint.ts';
import { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { endpoint as putVariable } from '../../../functions/projects/variables/put-variable.endpoint.ts';
import { endpoint as changeUserType } from '../../../functions/users/change-user-type.endpoint.ts';
import { isoTime } from '../../../shared/core/formats.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { appendAudit, listAudit as listRecords } from '../../../shared/data/accounts/audit.ts';
import { issueToken } from '../../../shared/data/accounts/token.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { type PeopledService, type Person, password, peopledService } from '../access/people.ts';
import { json } from '../users/body.ts';

interface Row {
  operation: string;
  ci: string | null;
  username: string | null;
  subject: Record<string, string>;
  before: unknown;
  after: unknown;
}

let service: PeopledService;
let owner: Person;
beforeAll(async () => {
  service = await peopledService();
  owner = service.people.developer;
});

const newProject = (): Promise<string> => service.projectOf(owner.user);

async function auditOf(project_id: string, query: Record<string, string> = {}): Promise<Row[]> {
  const answer = await service.call(listProjectAudit, { as: owner, path: { project_id }, query });
  return answer.json;
}

describe('an audit', () => {
  test('finds what a run of CI did by the user whose rights it has, whatever the run calls itself', async () => {
    const project_id = await newProject();
    const ci = { name: 'octo/digits', actor: null, commit: null, ref: null, run_id: null };
    const { bearer } = await issueToken(service.accounts, owner.user, {
      ...{ token_id: newId(), now: new Date(), seconds: 3600, name: null },
      ...{ scope: { rights: 'record', projects: [project_id] }, ci },
    });
    const run = { ...owner, token: bearer };
    await service.call(createExperiment, { as: run, path: { project_id }, ...json({}) });

    const rows = await auditOf(project_id, { username: owner.user.username });

    expect(rows.map(({ operation, username, ci }) => [operation, username, ci])).toEqual([
      ['createExperiment', owner.user.username, 'octo/digits'],
    ]);
  });

  test('names each experiment that one request has deleted', async () => {
    const project_id = await newProject();
    const { experiment_id } = await service.experimentIn(project_id, true);
    const experiment_ids = [experiment_id, ...Array.from({ length: 99 }, () => newId())];
    await service.call(deleteExperiments, { as: owner, path: { project_id }, ...json({ experiment_ids }) });

    const [row] = await auditOf(project_id);

    expect(row?.after).toEqual({ experiment_ids });
  });

  test('needs few queries for a page of one row, however few records match', async () => {
    const project_id = newId();
    const now = new Date();
    const at = now.toISOString();
    const record = () => ({
      ...{ audit_id: newId(), at, operation: 'test', project_id, subject: '{}', user_id: null },
      ...{ username: 'ada', ci: null, token_id: null, session_id: null, address: '', request_id: '' },
      ...{ before: null, after: null, ttl: 4_000_000_000 },
    });
    for (let batch = 0; batch < 4; batch += 1)
      await service.records.write(...Array.from({ length: 100 }, () => appendAudit('records', record())));
    let queries = 0;
    const counting: TableReader<'records'> = {
      ...service.records,
      query(asked) {
        queries += 1;
        return service.records.query(asked);
      },
    };
    const filter = { project_id, username: 'grace', since: isoTime(now.getTime() - 60_000) };

    const page = await listRecords([counting], filter, { limit: 1, after: undefined, now, days: 400 });

    expect(page).toMatchObject({ items: [], next: undefined });
    // A minute may lie in two months.
    expect(queries).toBeLessThanOrEqual(4);
  });

  test('reads the months before one without records', async () => {
    const { json: made } = await service.call(createProject, {
      as: owner,
      query: {
        ...{ 'project-name': 'months', 'project-description': 'x' },
        ...{ 'project-type': 'supervised', 'project-task': 'classification' },
      },
    });
    const today = new Date();
    const now = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 1));

    const page = await listRecords(
      [service.records],
      { project_id: made.project_id },
      { limit: 10, after: undefined, now, days: 400 },
    );

    expect(page.items.map(({ operation }) => operation)).toEqual(['createProject']);
  });

  test('reads a record of the first release, which knew no runs of CI', async () => {
    const project_id = newId();
    const now = new Date();
    const write = appendAudit('records', {
      ...{ audit_id: newId(), at: now.toISOString(), operation: 'test', project_id, subject: '{}' },
      ...{ user_id: null, username: 'ada', ci: null, token_id: null, session_id: null, address: '' },
      ...{ request_id: '', before: null, after: null, ttl: 4_000_000_000 },
    });
    if (!('put' in write)) throw new Error('an audit record is put');
    const { ci, ...first } = write.put;
    await service.records.write({ ...write, put: first });

    const page = await listRecords(
      [service.records],
      { project_id },
      { limit: 1, after: undefined, now, days: 1 },
    );

    expect(page.items.map(({ username, ci: by }) => [username, by])).toEqual([['ada', null]]);
  });

  test('has each tag that an MLflow client removes, and each model that it logs', async () => {
    const project_id = await newProject();
    const change = (path: string, body: object) =>
      service.call(serveMlflow, {
        as: owner,
        method: 'POST',
        path: { mlflow_path: `api/2.0/mlflow/${path}` },
        ...json(body),
      });
    const { run } = (await change('runs/create', { experiment_id: project_id })).json;
    const { run_id } = run.info;
    for (const _ of [1, 2]) {
      await change('runs/set-tag', { run_id, key: 'stage', value: 'x' });
      await change('runs/delete-tag', { run_id, key: 'stage' });
      await change('logged-models', { experiment_id: project_id, name: 'digits', source_run_id: run_id });
    }

    const rows = await auditOf(project_id);

    const countOf = (operation: string) => rows.filter((row) => row.operation === operation).length;
    expect(['POST runs/delete-tag', 'POST logged-models'].map((one) => countOf(`mlflow ${one}`))).toEqual([
      2, 2,
    ]);
  });

  test('tells the owner of a project who cancelled an experiment, from where and by which token', async () => {
    const project_id = await newProject();
    const { experiment_id } = await service.experimentIn(project_id, false);
    const path = { project_id, experiment_id };
    const admin = service.people.admin;
    await service.call(cancelExperiment, { as: admin, path, sourceIp: '203.0.113.9' });

    const [row] = await auditOf(project_id);

    expect(row).toMatchObject({
      operation: 'cancelExperiment',
      username: admin.user.username,
      user_id: admin.user.user_id,
      address: '203.0.113.9',
      subject: { experiment_id },
      session_id: null,
      token_id: expect.any(String),
    });
  });

  test('has values before and after a change, and no secret', async () => {
    const project_id = await newProject();
    const path = { project_id };
    await service.call(updateProject, { as: owner, path, ...json({ project_name: 'numerals' }) });
    const secret = json({ value: 'hunter2hunter2' });
    await service.call(putVariable, { as: owner, path: { ...path, name: 'TOKEN' }, ...secret });

    const rows = await auditOf(project_id);

    expect(rows.map(({ operation, before, after }) => ({ operation, before, after }))).toEqual([
      { operation: 'putVariable', before: null, after: { secret: true } },
      {
        operation: 'updateProject',
        before: { project_name: 'digits' },
        after: { project_name: 'numerals' },
      },
    ]);
    expect(JSON.stringify(rows)).not.toContain('hunter2');
  });

  test('names the record that an operation has created, and who has signed in', async () => {
    const query = {
      'project-name': 'digits',
      'project-description': 'Reads digits',
      'project-type': 'vision',
      'project-task': 'classification',
    };
    const made = await service.call(createProject, {
      as: owner,
      query,
      headers: { 'Idempotency-Key': 'one' },
    });
    await service.call(createProject, { as: owner, query, headers: { 'Idempotency-Key': 'one' } });
    const grant = { grant_type: 'password', username: owner.user.username, password };
    await service.call(createToken, json(grant));
    await service.call(createToken, { ...json({ ...grant, password: 'wrong password' }) });

    const { json: rows } = await service.call(listAudit, {
      as: service.people.admin,
      query: { username: owner.user.username, limit: '1000' },
    });

    const created = rows.filter(({ subject }: Row) => subject['created'] === made.json.project_id);
    expect(created).toHaveLength(1);
    const ofProject = await auditOf(made.json.project_id);
    expect(ofProject.map(({ operation }) => operation)).toEqual(['createProject']);
    const signedIn = rows.filter(({ operation }: Row) => operation === 'createToken');
    expect(signedIn).toHaveLength(1);
  });

  test('has one record an hour for each experiment and token that records metrics', async () => {
    const project_id = await newProject();
    const as = { as: owner, path: { project_id } };
    const { experiment_id } = (await service.call(createExperiment, { ...as, ...json({}) })).json;
    const path = { project_id, experiment_id };
    const named = await service.call(createNamedToken, { as: owner, ...json({ name: 'tracker' }) });
    const tracker = { ...owner, token: named.json.access_token };
    for (const value of [1, 2, 3])
      await service.call(logMetrics, { as: owner, path, ...json({ metrics: [{ name: 'loss', value }] }) });
    await service.call(logMetrics, { as: tracker, path, ...json({ metrics: [{ name: 'loss', value: 4 }] }) });

    const rows = await auditOf(project_id, { operation: 'logExperimentMetrics' });

    // An hour may end in between.
    expect(rows.length).toBeGreaterThanOrEqual(2);
    expect(rows.length).toBeLessThanOrEqual(3);
    expect(rows[0]?.subject).toEqual({ experiment_id });
  });

  test('has what an MLflow client writes, with its project and run', async () => {
    const project_id = await newProject();
    const change = (path: string, body: object) =>
      service.call(serveMlflow, {
        as: owner,
        method: 'POST',
        path: { mlflow_path: `api/2.0/mlflow/${path}` },
        ...json(body),
      });
    const { run } = (await change('runs/create', { experiment_id: project_id })).json;
    const { run_id } = run.info;
    await change('runs/log-metric', { run_id, key: 'loss', value: 1, timestamp: 1, step: 0 });
    await change('runs/search', { experiment_ids: [project_id] });
    await change('runs/update', { run_id, status: 'FINISHED' });

    const rows = await auditOf(project_id);

    expect(rows.map(({ operation }) => operation).sort()).toEqual([
      'mlflow POST runs/create',
      'mlflow POST runs/log-metric',
      'mlflow POST runs/update',
    ]);
    const [experiment_id] = rows.map(({ subject }) => subject['experiment_id']);
    expect(run_id).toContain(experiment_id);
    expect(rows.every(({ subject }) => subject['experiment_id'] === experiment_id)).toBe(true);
  });

  test('has pages that end, in order of time, and lines of JSON', async () => {
    const project_id = await newProject();
    const path = { project_id };
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const project_name of names)
      await service.call(updateProject, { as: owner, path, ...json({ project_name }) });
    const found: string[] = [];
    let query = 'limit=2';
    for (let pages = 0; query !== '' && pages < 10; pages += 1) {
      const page = await service.call(listAudit, {
        as: service.people.admin,
        query: query.includes('project=') ? query : `${query}&project=${project_id}`,
        headers: { Accept: 'application/x-ndjson' },
      });
      const lines = page.text.split('\n').filter((line) => line !== '');
      found.push(...lines.map((line) => JSON.parse(line).after.project_name));
      query = /<\?(.*)>/.exec(page.headers['link'] ?? '')?.[1] ?? '';
    }

    expect(found).toEqual(names.toReversed());
  });

  test('keeps to its times, and survives the deletion of the project', async () => {
    const project_id = await newProject();
    await service.call(updateProject, { as: owner, path: { project_id }, ...json({ project_name: 'a' }) });
    const since = new Date(Date.now() + 60_000).toISOString();
    const later = await auditOf(project_id, { since });
    const earlier = await auditOf(project_id, { until: '2020-01-01T00:00:00Z' });
    await service.call(deleteProject, { as: owner, path: { project_id } });

    const query = { project: project_id };
    const { json: rows } = await service.call(listAudit, { as: service.people.admin, query });

    expect([later, earlier]).toEqual([[], []]);
    expect(rows.map(({ operation }: Row) => operation)).toEqual(['deleteProject', 'updateProject']);
  });

  test('has no record of what was refused or changed nothing', async () => {
    const project_id = await newProject();
    const { experiment_id } = await service.experimentIn(project_id, true);
    const path = { project_id, experiment_id };
    const ended = await service.call(cancelExperiment, { as: owner, path });
    const stranger = service.people['other developer'];
    const refused = await service.call(updateProject, { as: stranger, path, ...json({ project_name: 'x' }) });
    const { user } = service.people.viewer;
    const same = { as: service.people.admin, path: { user_id: user.user_id } };
    const unchanged = await service.call(changeUserType, { ...same, query: { account_type: 'viewer' } });

    const rows = await auditOf(project_id);
    const query = { operation: 'changeUserType' };
    const { json: changes } = await service.call(listAudit, { as: service.people.admin, query });

    expect([ended.status, refused.status, unchanged.status]).toEqual([409, 403, 200]);
    expect([...rows, ...changes]).toEqual([]);
  });
});
