import { ulid } from 'ulid';
import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as listExperiments } from '../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as listConfigs } from '../../functions/projects/configs/list-configs.endpoint.ts';
import { endpoint as listDatasets } from '../../functions/projects/uploads/list-datasets.endpoint.ts';
import { newId } from '../../shared/core/new-id.ts';
import { putExperiment, removeExperiment } from '../../shared/data/experiments/experiment.ts';
import { putConfig } from '../../shared/data/projects/config.ts';
import { announceUpload, findAcceptable, putUpload } from '../../shared/data/projects/upload.ts';
import type { Write } from '../../shared/data/table/table.ts';
import { experimentOf } from '../support/experiment.ts';
import { sampled } from '../support/samples.ts';
import { type TestService, testService } from '../support/service.ts';
import { pagedLists } from './paged-list.ts';
import { newProject } from './projects/new-project.ts';

const at = '2026-01-02T03:04:05.000Z';
/** Writes that fit one transaction. */
const batch = 90;

describe('paging through what a project holds', () => {
  let service: TestService;
  let project_id: string;
  let list: ReturnType<typeof pagedLists>['list'];
  let walk: ReturnType<typeof pagedLists>['walk'];
  const experiments: string[] = [];
  const configs: string[] = [];

  beforeAll(async () => {
    service = await testService();
    const owner = await service.user('developer');
    project_id = await newProject(service, owner);
    ({ list, walk } = pagedLists(service, owner, project_id));
    const writes: Write[] = [];
    for (let index = 0; index < 200; index += 1) {
      const experiment = {
        ...experimentOf(project_id, 0.5),
        experiment_id: ulid(Date.parse(at) + index).toLowerCase(),
      };
      experiments.unshift(experiment.experiment_id);
      writes.push(putExperiment(experiment));
    }
    for (let from = 0; from < writes.length; from += batch) {
      await service.records.write(...writes.slice(from, from + batch));
    }
    for (let index = 0; index < 60; index += 1) {
      const config_id = `${'aB.-_9'.charAt((index * 5) % 2)}${index * 37}.yaml`;
      configs.push(config_id);
      const times = { created_at: at, updated_at: at, version: 1, versions_before: 0, generation: newId() };
      const config = {
        project_id,
        config_id,
        format: 'yaml' as const,
        size: 2,
        sha256: 'a'.repeat(64),
        ...times,
      };
      await putConfig(service.records, config, Buffer.from('{}'), undefined);
    }
    configs.sort();
  });

  test.each(sampled([7, 1, 2, 199, 200, 201, 1000], 3))(
    'experiments, newest first, %i a page',
    async (limit) => {
      const removed = {
        ...experimentOf(project_id, 0.5),
        experiment_id: ulid(Date.parse(at) + 100).toLowerCase(),
      };
      await service.records.write(putExperiment(removed));
      let isRemoved = false;
      const { ids, sizes } = await walk(listExperiments, 'experiment_id', (page) => {
        if (page > 0 && !isRemoved) {
          isRemoved = true;
          void service.records.write(removeExperiment(removed));
        }
        return limit;
      });
      if (!isRemoved) await service.records.write(removeExperiment(removed));
      expect(ids.filter((id) => id !== removed.experiment_id)).toEqual(experiments);
      expect(sizes.at(-1)).toBeGreaterThan(0);
    },
  );

  test.each(sampled([1, 7, 59, 60, 61], 2))(
    'configurations, by name, %i a page; the last page leads nowhere',
    async (limit) => {
      const { ids, sizes } = await walk(listConfigs, 'config_id', () => limit);
      expect(ids).toEqual(configs);
      expect(sizes).toHaveLength(Math.ceil(configs.length / limit));
    },
  );

  test('data sets, by name; and an empty list has no next page', async () => {
    const none = await list(listDatasets, 'limit=1');
    expect([none.json, none.next]).toEqual([[], undefined]);
    for (const name of ['a', 'b', 'C']) {
      const upload = {
        project_id,
        name,
        sha256: 'b'.repeat(64),
        size: 1,
        format: 'file' as const,
        updated_at: at,
        version: 1,
      };
      await announceUpload(service.records, 'dataset', upload, { maxBytes: 1e9, now: new Date() });
      const acceptable = await findAcceptable(service.records, 'dataset', project_id, upload.sha256);
      await putUpload(service.records, 'dataset', upload, undefined, acceptable!, 1e9);
    }
    const { ids, sizes } = await walk(listDatasets, 'dataset', () => 1);
    expect(ids).toEqual(['C', 'a', 'b']);
    expect(sizes).toEqual([1, 1, 1]);
  });
});
