import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as readConfigGraph } from '../../../functions/projects/configs/read-config-graph.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as putHook } from '../../../functions/projects/hooks/put-hook.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as createReport } from '../../../functions/projects/reports/create-report.endpoint.ts';
import { endpoint as createSchedule } from '../../../functions/projects/schedules/create-schedule.endpoint.ts';
import { endpoint as createSweep } from '../../../functions/projects/sweeps/create-sweep.endpoint.ts';
import { endpoint as putDataset } from '../../../functions/projects/uploads/put-dataset.endpoint.ts';
import { endpoint as putSource } from '../../../functions/projects/uploads/put-source.endpoint.ts';
import { endpoint as requestDatasetUpload } from '../../../functions/projects/uploads/request-dataset-upload.endpoint.ts';
import { endpoint as requestSourceUpload } from '../../../functions/projects/uploads/request-source-upload.endpoint.ts';
import { endpoint as putVariable } from '../../../functions/projects/variables/put-variable.endpoint.ts';
import { putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { putJobConfig } from '../../../shared/data/jobs/job-config.ts';
import { count } from '../../../shared/data/projects/project.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { experimentOf } from '../../support/experiment.ts';
import { sampled } from '../../support/samples.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { send, sha256 } from '../projects/upload-file.ts';
import { checkChanges } from './change-checks.ts';
import { files, projectRows, sources } from './project-rows.ts';
import { checkReads } from './read-checks.ts';
import type { RowContext } from './rows.ts';

describe('conditional requests about projects', () => {
  let service: TestService;
  let owner: TestUser;
  let path: Readonly<Record<string, string>>;

  beforeAll(async () => {
    service = await testService();
    owner = await service.user('developer');
  });

  beforeEach(async () => {
    const project_id = await newProject(service, owner);
    const { experiment_id } = experimentOf(project_id, 0.5);
    path = {
      project_id,
      config_id: 'train.yaml',
      dataset: 'digits',
      experiment_id,
      name: 'HF_TOKEN',
      sweep_id: experiment_id,
      schedule_id: experiment_id,
    };
  });

  const call: RowContext['call'] = (endpoint, content = {}, headers = {}) =>
    service.call(endpoint, { path, as: owner, ...content, headers: { ...content.headers, ...headers } });

  async function upload(endpoint: AnyEndpoint, blobs: readonly Uint8Array[]): Promise<void> {
    for (const bytes of blobs) {
      const asked = await call(endpoint, { query: { sha256: sha256(bytes), size: String(bytes.length) } });
      expect(await send(asked.json.upload, bytes)).toBe(200);
    }
  }

  async function prepare({ path: route }: AnyEndpoint): Promise<void> {
    if (route.includes('/source')) await upload(requestSourceUpload, sources);
    if (route.includes('/datasets/')) await upload(requestDatasetUpload, files);
  }

  async function begin(endpoint: AnyEndpoint): Promise<string> {
    await prepare(endpoint);
    const { path: route } = endpoint;
    if (route.includes('{experiment_id}')) {
      const experiment = {
        ...experimentOf(path['project_id']!, 0.5),
        experiment_id: path['experiment_id']!,
        stopped_at: '2026-01-02T03:05:05.000Z',
      };
      const counted = count(experiment.project_id, { experiments: 1 });
      const config = putJobConfig(experiment.experiment_id, Buffer.from('a: 1\n'));
      await service.records.write(putExperiment(experiment), config, counted);
    }
    if (route.includes('{report_id}')) {
      const body = JSON.stringify({ title: 'Findings', text: '' });
      const made = await call(createReport, { body, headers: { 'Content-Type': 'application/json' } });
      expect(made.status, made.text).toBe(200);
      path = { ...path, report_id: made.json.report_id };
      return made.headers['etag'] ?? '';
    }
    if (/\{(?:sweep|schedule)_id\}/.test(route)) {
      await call(putConfig, { body: 'a: 1' });
      await call(
        putEnvironment,
        projectRows.changes.find((row) => row.endpoint === putEnvironment)?.content(0),
      );
      const [maker, more] = route.includes('{sweep_id}')
        ? [createSweep, { method: 'external', trials: 2 }]
        : [createSchedule, { cron: '0 3 * * *' }];
      const body = JSON.stringify({ config: 'train.yaml', ...more });
      const made = await call(maker, { body, headers: { 'Content-Type': 'application/json' } });
      expect(made.status, made.text).toBe(200);
      const { sweep_id, schedule_id } = { ...path, ...made.json };
      path = { ...path, sweep_id, schedule_id };
      return made.headers['etag'] ?? '';
    }
    const makers = [putConfig, putEnvironment, putSource, putDataset, putVariable, putHook];
    const maker = projectRows.changes.find(
      (row) => makers.some((one) => one === row.endpoint) && route.startsWith(row.endpoint.path),
    );
    const made = maker && (await call(maker.endpoint, maker.content(0)));
    if (made !== undefined) expect(made.status).toBe(200);
    const tag = (await call(readProject)).headers['etag'];
    return made?.headers['etag'] ?? (route.includes('{experiment_id}') ? '"1-x"' : tag!);
  }

  checkReads({ ...projectRows, reads: sampled(projectRows.reads, 2) }, { call, begin, prepare });
  checkChanges({ ...projectRows, changes: sampled(projectRows.changes, 2) }, { call, begin, prepare });

  test('forms of one record have tags of their own', async () => {
    await begin(readConfigGraph);
    const forms = ['application/json', 'image/svg+xml', 'text/vnd.mermaid', 'text/vnd.graphviz'];
    const tags = await Promise.all(
      forms.map(async (Accept) => (await call(readConfigGraph, {}, { Accept })).headers['etag']),
    );
    expect(new Set(tags).size).toBe(forms.length);
  });

  test('a masked answer has a tag of its own', async () => {
    const whole = (await call(readProject)).headers['etag']!;
    const masked = await call(readProject, {}, { 'X-Fields': 'project_name', 'If-None-Match': whole });
    expect(masked.status).toBe(200);
    expect(masked.headers['etag']).not.toBe(whole);
  });
});
