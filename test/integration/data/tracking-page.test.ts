import { expect, test } from 'vitest';
import { newId } from '../../../shared/core/new-id.ts';
import {
  type ExperimentFields,
  putFields,
  readTrackingOf,
} from '../../../shared/data/experiments/tracking.ts';
import { putMetricPart, withPoints } from '../../../shared/data/metrics/metric-summaries.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { testService } from '../../support/service.ts';

const at = '2026-01-02T03:04:05.000Z';

const fieldsOf = (name: string): ExperimentFields => ({
  name,
  note: null,
  tags: {},
  params: {},
  git: null,
  updated_at: at,
  version: 1,
});

/** Experiments of a new project, newest first, each with its fields and one part of metrics. */
async function recorded(count: number) {
  const { records } = await testService();
  const project_id = newId();
  const ids = Array.from({ length: count }, newId).sort().reverse();
  for (const id of ids) {
    const [part] = withPoints([], [{ name: 'loss', value: 1, step: 0, time: Date.parse(at) }]).parts;
    await records.write(
      putFields(project_id, id, fieldsOf(id), undefined),
      putMetricPart(project_id, id, 0, part!),
    );
  }
  const read: number[] = [];
  const counting: TableReader<'records'> = {
    ...records,
    async query(query) {
      const page = await records.query(query);
      read.push(page.items.length);
      return page;
    },
  };
  return { records: counting, project_id, ids, read };
}

test('the tracking data of a page of experiments are one query, which reads nothing of other experiments', async () => {
  const { records, project_id, ids, read } = await recorded(6);
  const page = ids.slice(2, 4);
  const { of } = await readTrackingOf(records, project_id, page);
  expect([...of.keys()]).toEqual(page);
  expect(of.get(page[1]!)).toMatchObject({ fields: { name: page[1] } });
  expect(of.get(page[1]!)?.metrics.get('loss')).toMatchObject({ last: 1, count: 1 });
  expect(read).toEqual([4]);
});

test('so are those of the oldest experiments', async () => {
  const { records, project_id, ids, read } = await recorded(3);
  expect([...(await readTrackingOf(records, project_id, ids.slice(1))).of.keys()]).toEqual(ids.slice(1));
  expect(read).toEqual([4]);
});
