import { ulid } from 'ulid';
import { describe, expect, test } from 'vitest';
import {
  experimentJob,
  experimentPrefix,
  putExperiment,
} from '../../../../shared/data/experiments/experiment.ts';
import { putUnfinished } from '../../../../shared/data/jobs/job.ts';
import { createProject, projectPrefix } from '../../../../shared/data/projects/project.ts';
import { type Purge, recordPurge } from '../../../../shared/data/projects/purge.ts';
import type { Item, TableWriter, Write } from '../../../../shared/data/table/table.ts';
import { experimentOf } from '../../../support/experiment.ts';
import { findOrphans, type Inventory } from '../../../support/inventory.ts';
import { projectOf } from '../../../support/project.ts';

const at = '2026-01-02T03:04:05.000Z';
const project_id = ulid().toLowerCase();
const running = experimentOf(project_id, null);
const ended = { ...experimentOf(project_id, 0.9), artifacts: 1, artifact_bytes: 5 };
const object = `${experimentPrefix(project_id, ended.experiment_id)}artifacts/a`;

const putsOf = (writes: readonly Write[]): Item[] =>
  writes.flatMap((write) => ('put' in write ? [write.put] : []));

async function project(): Promise<Item[]> {
  const items: Item[] = [];
  const nothing = {
    get: async () => undefined,
    peek: async () => undefined,
    batchGet: async () => [],
    query: async () => ({ items: [], next: undefined }),
    count: async () => 0,
  };
  const records: TableWriter<'records'> = {
    ...nothing,
    name: 'records',
    writable: true,
    write: async (...writes) => void items.push(...putsOf(writes)),
  };
  await createProject(records, projectOf(project_id));
  return items;
}

/** A deployment in order: a project with a job that runs, and one that has ended and left a file. */
async function healthy(): Promise<{
  accounts: Item[];
  records: Item[];
  objects: Inventory['objects'][number][];
}> {
  const counters = { experiments: 2, unfinished: 1, objects: 1, bytes: 5 };
  const records = [
    ...(await project()).map((item) => (item.pk.startsWith('COUNTERS#') ? { ...item, ...counters } : item)),
    ...putsOf([putExperiment(running), putExperiment(ended)]),
    ...putsOf([putUnfinished(experimentJob(running))]),
    {
      pk: `JOB#${ended.experiment_id}`,
      sk: 'ARTIFACT#a',
      record_type: 'artifact',
      schema_version: 0,
      path: 'a',
      sha256: 'a'.repeat(64),
      media_type: 'text/plain',
      created_at: at,
      object,
      size: 5,
    },
    { pk: 'LIMITS', sk: `USER#${running.user_id}`, unfinished: 1 },
    { pk: 'LIMITS#0', sk: 'VCPUS', record_type: 'limit-share', limit: 16, capacity: 16, free: 15 },
  ];
  return { accounts: [], records, objects: [{ key: object, size: 5 }] };
}

const without = (items: readonly Item[], pk: string, sk?: string): Item[] =>
  items.filter((item) => item.pk !== pk || (sk !== undefined && item.sk !== sk));

describe('orphans', () => {
  test('are not found where all is in order', async () => {
    expect(findOrphans(await healthy())).toEqual([]);
  });

  test('are what a deleted project has left, unless a purge is on its way', async () => {
    const { records, ...rest } = await healthy();
    const left = without(records, 'PROJECTS', project_id);
    const found = findOrphans({ ...rest, records: left });
    const orphans = found.filter(({ kind }) => kind === 'orphan').map(({ where }) => where);
    expect(orphans).toContain(`COUNTERS#${project_id}/COUNTERS`);
    expect(orphans).toContain(`EXPERIMENTS#${project_id}/${ended.experiment_id}`);
    expect(orphans).toContain(object);
    const purge: Purge = {
      purge_id: ulid().toLowerCase(),
      created_at: at,
      again_at: null,
      project_id,
      target: { partitions: [{ pk: `COUNTERS#${project_id}` }], prefixes: [projectPrefix(project_id)] },
    };
    const doomed = findOrphans({ ...rest, records: [...left, ...putsOf([recordPurge(purge)])] });
    const remaining = doomed.filter(({ kind }) => kind === 'orphan').map(({ where }) => where.split('#')[0]);
    expect(remaining).toEqual(['OWNED']);
  });

  test('are not records of the audit, which outlive what they tell of', async () => {
    const { records, ...others } = await healthy();
    const told = { pk: 'AUDIT#2026-01#3', sk: at, record_type: 'audit', project_id: ulid().toLowerCase() };
    expect(findOrphans({ ...others, records: [...records, told] })).toEqual([]);
  });

  test('are what a job has left whose record is gone', async () => {
    const { records, ...rest } = await healthy();
    const left = without(records, `EXPERIMENTS#${project_id}`, ended.experiment_id);
    const found = findOrphans({ ...rest, records: left }).filter(({ kind }) => kind === 'orphan');
    expect(found.map(({ where }) => where)).toEqual([`JOB#${ended.experiment_id}/ARTIFACT#a`, object]);
  });

  test('an object that no record names is told apart', async () => {
    const { objects, ...rest } = await healthy();
    const key = `${object}b`;
    expect(findOrphans({ ...rest, objects: [...objects, { key, size: 1 }] })).toEqual([
      { kind: 'unnamed', where: key, why: 'no record refers to it' },
    ]);
  });

  test('a job that is on the wrong list is stale', async () => {
    const { records, ...rest } = await healthy();
    const forgotten = findOrphans({ ...rest, records: without(records, 'UNFINISHED_JOBS') });
    expect(forgotten).toMatchObject([{ kind: 'stale', where: `JOB#${running.experiment_id}` }]);
    const extra = { pk: 'UNFINISHED_JOBS', sk: ended.experiment_id };
    expect(findOrphans({ ...rest, records: [...records, extra] })).toMatchObject([
      { kind: 'stale', where: `UNFINISHED_JOBS/${ended.experiment_id}`, why: 'it has ended: SUCCEEDED' },
    ]);
  });

  test('a row that was set aside is told with its reason', async () => {
    const { records, ...rest } = await healthy();
    const aside = { set_aside_at: at, set_aside_reason: 'it is newer' };
    const marked = records.map((item) => (item.pk === 'UNFINISHED_JOBS' ? { ...item, ...aside } : item));
    const account = { pk: 'CLOSED_ACCOUNTS', sk: 'u', ...aside };
    expect(findOrphans({ ...rest, accounts: [account], records: marked })).toEqual([
      { kind: 'set-aside', where: 'CLOSED_ACCOUNTS/u', why: `since ${at}: it is newer` },
      {
        kind: 'set-aside',
        where: `UNFINISHED_JOBS/${running.experiment_id}`,
        why: `since ${at}: it is newer`,
      },
    ]);
  });

  test('a kept count that has drifted is told with what it should be', async () => {
    const { records, ...rest } = await healthy();
    const drifted = records.map((item) => (item.sk === 'VCPUS' ? { ...item, free: 13 } : item));
    expect(findOrphans({ ...rest, records: drifted })).toEqual([
      { kind: 'count', where: 'LIMITS#0/VCPUS', why: 'free is 13, but there are 15' },
    ]);
  });

  test('a count of a project that has drifted is told', async () => {
    const { records, ...rest } = await healthy();
    const drifted = records.map((item) => (item.pk.startsWith('COUNTERS#') ? { ...item, bytes: 7 } : item));
    expect(findOrphans({ ...rest, records: drifted })).toEqual([
      { kind: 'count', where: `COUNTERS#${project_id}/COUNTERS`, why: 'bytes is 7, but there are 5' },
    ]);
  });

  test('a record that cannot be read is told, and what belongs to it is no orphan', async () => {
    const { records, ...rest } = await healthy();
    const newer = records.map((item) =>
      item['record_type'] === 'project' || item['record_type'] === 'artifact'
        ? { ...item, schema_version: 99 }
        : item,
    );
    expect(findOrphans({ ...rest, records: newer })).toEqual([
      {
        kind: 'unreadable',
        where: `PROJECTS/${project_id}`,
        why: 'is a project whose schema version 99 is newer than 0',
      },
      {
        kind: 'unreadable',
        where: `JOB#${ended.experiment_id}/ARTIFACT#a`,
        why: 'is a artifact whose schema version 99 is newer than 0',
      },
    ]);
  });
});
