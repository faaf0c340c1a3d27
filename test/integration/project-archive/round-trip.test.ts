import { expect, test } from 'vitest';
import { listExperiments } from '../../../shared/data/experiments/experiment.ts';
import { readProjects } from '../../../shared/data/experiments/search-experiments.ts';
import { readTracking } from '../../../shared/data/experiments/tracking.ts';
import { countersKey } from '../../../shared/data/projects/project.ts';
import { rankProject } from '../../../shared/experiments/rank-project.ts';
import { MetricRanker } from '../../../shared/metrics/metric-ranker.ts';
import { everySample } from '../../support/samples.ts';
import fc from '../../support/seeded-fast-check.ts';
import { testService } from '../../support/service.ts';
import {
  archiveLab,
  archiveOf,
  beginExporting,
  beginImporting,
  dyingAt,
  exported,
  imported,
  passOverExport,
  passOverImport,
} from './archive-lab.ts';
import { type DrawnProject, recordProject } from './archived-project.ts';

const service = await testService();
const { user } = await service.user('developer');
const lab = archiveLab(service, user);

const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom('~', '~e1~ is no reference', 'Zürich 🦆', '~0', '"\\'),
);
const bytes = fc.uint8Array({ maxLength: 60 });
const values = fc.oneof(
  fc.double({ noNaN: true }),
  fc.constantFrom(Number.NaN, Number.NEGATIVE_INFINITY, -0, 1e308),
);
const point = fc.record({
  name: fc.constantFrom('loss', 'val/accuracy', 'a "quoted" name'),
  value: values,
  step: fc.option(fc.integer({ min: 0, max: 50 })),
  time: fc.constantFrom(Date.parse('2026-01-02T03:04:05.006Z'), Date.parse('2026-01-02T03:04:06.000Z')),
});
const files = fc.dictionary(
  fc.constantFrom('a.txt', 'model/weights.bin', 'plots/ü.png', 'deep/er/x'),
  bytes,
  { maxKeys: 3 },
);
const project: fc.Arbitrary<DrawnProject> = fc.record({
  description: fc.constantFrom('Reads digits', 'Several\nlines'),
  configs: fc.dictionary(
    fc.constantFrom('train.yaml', 'other.yaml'),
    fc.array(fc.constantFrom('lr: 0.1\n', 'lr: 0.2\n', 'a: [1, 2]\n'), { minLength: 1, maxLength: 3 }),
  ),
  hasEnvironment: fc.boolean(),
  source: bytes,
  datasets: fc.dictionary(fc.constantFrom('digits', 'held-out'), bytes),
  experiments: fc.array(
    fc.record({
      isTrained: fc.boolean(),
      tags: fc.dictionary(fc.constantFrom('stage', 'who', 'x y'), text),
      note: text,
      points: fc.array(point, { maxLength: 12 }),
      lines: fc.array(text, { maxLength: 5 }),
      artifacts: files,
      hasParent: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
  models: fc.array(files, { maxLength: 2 }),
  hasRegistry: fc.boolean(),
  hasPages: fc.boolean(),
});

/** One with some of everything. */
const full: DrawnProject = {
  description: 'Reads digits',
  configs: { 'train.yaml': ['lr: 0.1\n', 'lr: 0.2\n'] },
  hasEnvironment: true,
  source: Buffer.from('a source'),
  datasets: { digits: Buffer.from('digits') },
  experiments: [true, false].map((isTrained) => ({
    isTrained,
    tags: { stage: 'baseline' },
    note: 'Markdown',
    points: [
      { name: 'loss', value: 0.5, step: 1, time: Date.parse('2026-01-02T03:04:05.006Z') },
      { name: 'loss', value: Number.NaN, step: 2, time: Date.parse('2026-01-02T03:04:06.006Z') },
    ],
    lines: ['one', 'two'],
    artifacts: { 'model/weights.bin': Buffer.from('weights'), empty: Buffer.alloc(0) },
    hasParent: true,
  })),
  models: [{ MLmodel: Buffer.from('flavors: {}') }],
  hasRegistry: true,
  hasPages: true,
};

/** `npm run proof -- fuzz` kills before each write, `npm test` before some. */
const every = process.env['FUZZ_SEED'] !== undefined ? 1 : everySample ? 6 : 20;

test('export, import, export: the same bytes, whatever the project holds', async () => {
  await fc.assert(
    fc.asyncProperty(project, async (drawn) => {
      const first = await exported(lab, await recordProject(lab, drawn));
      const { status_reason, status, project_id } = await imported(lab, first);
      expect([status, status_reason]).toEqual(['SUCCEEDED', null]);
      const second = await exported(lab, project_id);
      expect(second.equals(first)).toBe(true);
    }),
    { numRuns: everySample ? 4 : 2 },
  );
});

test('an imported project is one of the importer’s like any other', async () => {
  const original = await recordProject(lab, full);
  const archive = await exported(lab, original);
  expect(archive.includes('API_KEY')).toBe(false);
  expect(archive.includes('sealed')).toBe(false);
  expect(archive.includes(original)).toBe(false);
  const other = archiveLab(service, (await service.user('developer')).user);
  const { project_id } = await imported(other, archive);
  const { records } = lab;
  const byAccuracy = new MetricRanker({ name: 'accuracy', goal: 'maximize' });
  const [one, two] = await Promise.all(
    [original, project_id].map(async (id) => ({
      counters: await records.get(countersKey(id)),
      experiments: (await listExperiments(records, id, {})).items,
      best: rankProject(
        (await readProjects(records, [id])).flatMap(({ rows }) => rows),
        byAccuracy,
      ).best?.value.value,
    })),
  );
  expect(two?.counters).toEqual({ ...one?.counters, pk: `COUNTERS#${project_id}` });
  expect(two?.best).toBe(0.875);
  expect(two?.experiments.map(({ user_id }) => user_id)).toEqual([other.user.user_id, other.user.user_id]);
  const [logged, trained] = two?.experiments ?? [];
  const tracking = await readTracking(records, project_id, logged?.experiment_id ?? '');
  expect(tracking.fields?.tags['mlflow.parentRunId']).toBe(`${project_id}-${trained?.experiment_id}`);
  expect(tracking.metrics.get('loss')).toMatchObject({ min: 0.5, count: 2, step: 2 });
  // Whose it was stays known by name, and is nobody's account here.
  expect(logged?.imported_user).toBe(user.username);
});

test('an export that is killed before any of its writes goes on to the same bytes', async () => {
  const project_id = await recordProject(lab, full);
  const whole = await exported(lab, project_id);
  for (let call = 2; ; call += every) {
    await beginExporting(lab, project_id);
    const dying = dyingAt(lab, call);
    await passOverExport(dying.lab, project_id).catch(() => undefined);
    const value = await passOverExport(lab, project_id);
    expect([call, value.status, value.status_reason]).toEqual([call, 'SUCCEEDED', null]);
    expect((await archiveOf(lab, value)).equals(whole)).toBe(true);
    if (!dying.died()) break;
    expect(call).toBeLessThan(120);
  }
});

test('an import that is killed before any of its writes goes on to one whole project', async () => {
  const original = await recordProject(lab, full);
  const archive = await exported(lab, original);
  const expected = await lab.records.get(countersKey(original));
  for (let call = 1; ; call += every) {
    const sha256 = await beginImporting(lab, archive);
    const dying = dyingAt(lab, call);
    await passOverImport(dying.lab, sha256).catch(() => undefined);
    const { status, status_reason, project_id } = await passOverImport(lab, sha256);
    expect([call, status, status_reason]).toEqual([call, 'SUCCEEDED', null]);
    const counters = await lab.records.get(countersKey(project_id));
    expect(counters).toEqual({ ...expected, pk: counters?.pk });
    expect((await exported(lab, project_id)).equals(archive)).toBe(true);
    if (!dying.died()) break;
    expect(call).toBeLessThan(120);
  }
});
