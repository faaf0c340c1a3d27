import { expect, test } from 'vitest';
import type * as z from 'zod';
import { findProjects } from '../../../shared/data/projects/project.ts';
import { canonicalJson } from '../../../shared/project-archive/canonical-json.ts';
import { IndexRow } from '../../../shared/project-archive/manifest.ts';
import { sampled } from '../../support/samples.ts';
import { imported } from './archive-lab.ts';
import { leavesOf } from './document-fields.ts';
import { type ArchivedFiles, packed } from './repacked-archive.ts';
import {
  at,
  type Document,
  documents,
  faultsOf,
  fields,
  lab,
  long,
  refused,
  valuesOf,
  whole,
  withValue,
} from './whole-archive.ts';

test('each field that a document may have is looked at here', () => {
  expect(fields.length).toBeGreaterThan(120);
  expect(fields.filter((field) => valuesOf(field).length === 0)).toEqual([]);
  expect(Object.keys(refused).filter((field) => !fields.includes(field))).toEqual([]);
});

test('the archive of which the others differ in one field is imported', async () => {
  const { status, status_reason } = await imported(lab, packed(whole));
  expect([status, status_reason]).toEqual(['SUCCEEDED', null]);
});

test('no field takes by an archive what no request may bring, and the refusal names file and field', async () => {
  const taken: string[] = [];
  for (const field of sampled(fields, 12)) {
    const [name = '', ...parts] = field.split('.');
    const [path] = documents[name as Document];
    for (const value of valuesOf(field)) {
      const faults = await faultsOf(withValue(field, value));
      const shown = `${field}: ${JSON.stringify(value)?.slice(0, 40)}`;
      const isNamed = faults.some((one) => one.includes(path));
      if (!isNamed) taken.push(`${shown} (${faults.join('; ')})`);
      // A name that is no name is told by the record that it stands in, a reference by its number.
      const last = parts.filter((part) => !['*', '#'].includes(part)).at(-1) ?? '';
      const isTold = faults.some(
        (one) => one.includes(last) || /refers to|alias of|the line after/.test(one),
      );
      if (isNamed && field in refused && !isTold) taken.push(`${shown} is not named: ${faults.join('; ')}`);
    }
  }
  expect(taken).toEqual([]);
});

test('what an archive is refused for, the request that brings it refuses, too', () => {
  const letIn = Object.entries(refused).flatMap(([field, [values, door]]) =>
    door === undefined
      ? []
      : values
          .filter((value) => (door as z.ZodType).safeParse(value).success)
          .map((value) => `${field}: ${JSON.stringify(value).slice(0, 40)}`),
  );
  expect(letIn).toEqual([]);
});

test('a file, a point and a line are of the rules of those that clients send', async () => {
  const first = (path: string, text: string): ArchivedFiles =>
    whole.map(([other, bytes, claimed = {}]) => [other, other === path ? Buffer.from(text) : bytes, claimed]);
  const metrics = 'experiments/000001/metrics.ndjson';
  const good = `["loss",1,1,"${at}"]\n`;
  const faults = await faultsOf(
    first(metrics, `${good}["",1,1,"${at}"]\n${good}["${long(250)}",1,1,"${at}"]\n`),
  );
  expect(faults).toEqual([2, 4].map((line) => `line ${line} of ${metrics} does not match this format`));
  expect(leavesOf(IndexRow)).toEqual(['path', 'size', 'crc32', 'sha256', 'media_type', 'created_at']);
  for (const claimed of [
    { path: 'experiments/000001/artifacts/../x' },
    { sha256: 'x' },
    { media_type: 'a\r\nb: c' },
    { created_at: 'now' },
  ]) {
    const changed = whole.map(([path, bytes, others = {}], index): ArchivedFiles[number] =>
      index === whole.findIndex(([one]) => one.includes('/artifacts/'))
        ? [path, bytes, { ...others, ...claimed }]
        : [path, bytes, others],
    );
    await expect(faultsOf(changed)).resolves.not.toEqual([]);
  }
});

test.each([
  ['train.yaml', 'a: [1'],
  ['train.yaml', ''],
  ['train.yaml', Buffer.from([0xff, 0xfe])],
  ['train.txt', 'a: 1\n'],
])('a configuration %s that PUT refuses is refused by an import, too', async (name, content) => {
  const files = whole.map(([path, bytes, claimed = {}]): ArchivedFiles[number] =>
    path === 'configs/train.yaml/1'
      ? [`configs/${name}/1`, Buffer.from(content), claimed]
      : [path.replace('configs/train.yaml/', `configs/${name}/`), bytes, claimed],
  );
  const { status, status_reason } = await imported(lab, packed(files));
  expect([status, status_reason]).toEqual(['FAILED', expect.stringContaining(`configs/${name}/`)]);
});

test('all faults of an archive are named at once, and nothing of it is left', async () => {
  const bad = new Map<string, object>([
    [
      'project.json',
      {
        project_type: '',
        variables: [{ name: 'LD_PRELOAD', value: '/x', created_at: at, updated_at: at, version: 1 }],
      },
    ],
    ['experiments/000001/experiment.json', { timeout: 0 }],
    ['experiments/000002/experiment.json', { vcpus: 4 }],
  ]);
  const files = whole.map(([path, bytes, claimed = {}]): ArchivedFiles[number] => [
    path,
    bad.has(path)
      ? Buffer.from(canonicalJson({ ...JSON.parse(bytes.toString('utf8')), ...bad.get(path) }))
      : bytes,
    claimed,
  ]);
  const { status, status_reason, project_id } = await imported(lab, packed(files));
  expect(status).toBe('FAILED');
  for (const part of [
    'project_type',
    'variables.0.name is reserved for the service',
    'timeout must be from 1',
    '000002/experiment.json',
  ])
    expect(status_reason).toContain(part);
  expect((await findProjects(lab.records, [project_id])).items).toEqual([]);
});
