import { expect, test } from 'vitest';
import { newId } from '../../../shared/core/new-id.ts';
import { modelVersions, versionsPrefix } from '../../../shared/data/models/registered-model.ts';
import { countersKey, findProjects } from '../../../shared/data/projects/project.ts';
import {
  findImport,
  listArchiveWork,
  type ProjectImport,
} from '../../../shared/data/projects/project-archives.ts';
import { parsePurge, unfinishedPurges } from '../../../shared/data/projects/purge.ts';
import { removeWholeProject } from '../../../shared/purge/remove-project.ts';
import { everySample, sampled } from '../../support/samples.ts';
import fc from '../../support/seeded-fast-check.ts';
import { testService } from '../../support/service.ts';
import {
  type ArchiveLab,
  archiveLab,
  archiveOf,
  beginExporting,
  beginImporting,
  dyingAt,
  exported,
  gated,
  passOverExport,
  passOverImport,
} from './archive-lab.ts';
import { type DrawnProject, recordProject } from './archived-project.ts';
import { filesOf } from './repacked-archive.ts';

const service = await testService();
const lab = archiveLab(service, (await service.user('developer')).user);
const small: DrawnProject = {
  description: 'Reads digits',
  configs: { 'train.yaml': ['lr: 0.1\n'] },
  hasEnvironment: true,
  source: Buffer.from('a source'),
  datasets: {},
  experiments: [
    {
      isTrained: true,
      tags: {},
      note: '',
      points: [{ name: 'loss', value: 0.5, step: 1, time: Date.parse('2026-01-02T03:04:05.006Z') }],
      lines: ['one'],
      artifacts: { a: Buffer.from('a') },
      hasParent: false,
    },
  ],
  models: [{ MLmodel: Buffer.from('flavors: {}') }],
  hasRegistry: true,
};
const original = await recordProject(lab, small);
const archive = await exported(lab, original);
const counters = await lab.records.get(countersKey(original));
/** How many for `npm run proof -- fuzz`, for who asks for this file, and for `npm test`. */
function amount(proof: number, asked: number, usual: number): number {
  if (process.env['FUZZ_SEED'] !== undefined) return proof;
  return everySample ? asked : usual;
}

/** A pass is stopped before one of so many calls. */
const every = amount(1, 7, 20);

/** A pass that stops before its call of this number until it is let go on. */
function stoppedAt(call: number): { lab: ArchiveLab; stopped: Promise<boolean>; goOn(ended: boolean): void } {
  const [reached, released] = [Promise.withResolvers<boolean>(), Promise.withResolvers<void>()];
  let calls = 0;
  const stopping = gated(lab, async () => {
    calls += 1;
    if (calls !== call) return;
    reached.resolve(true);
    await released.promise;
  });
  return {
    lab: stopping,
    stopped: reached.promise,
    goOn: (ended) => (ended ? reached.resolve(false) : released.resolve()),
  };
}

/** Begins `pass`, lets `meanwhile` happen while it stands before its call of this number, and waits for both. */
async function whileStopped(
  call: number,
  pass: (lab: ArchiveLab) => Promise<unknown>,
  meanwhile: () => Promise<unknown>,
): Promise<boolean> {
  const slow = stoppedAt(call);
  const first = pass(slow.lab).finally(() => slow.goOn(true));
  const stopped = await slow.stopped;
  await meanwhile();
  slow.goOn(false);
  await first;
  return stopped;
}

/** An import after as many passes as the worker makes until it has ended. */
async function ended(sha256: string): Promise<ProjectImport> {
  let value = await passOverImport(lab, sha256);
  for (let pass = 0; value.status === 'RUNNING' && pass < 5; pass += 1)
    value = await passOverImport(lab, sha256);
  return value;
}

/** The import has succeeded, and its project is that of the archive. */
async function requireWhole(sha256: string, at: unknown): Promise<void> {
  const value = await ended(sha256);
  expect([at, value.status, value.status_reason]).toEqual([at, 'SUCCEEDED', null]);
  const found = await lab.records.get(countersKey(value.project_id));
  expect([at, found]).toEqual([at, { ...counters, pk: found?.pk }]);
  const again = filesOf(await exported(lab, value.project_id)).map(([path, bytes]) => [
    path,
    bytes.toString(),
  ]);
  expect([at, again]).toEqual([at, filesOf(archive).map(([path, bytes]) => [path, bytes.toString()])]);
}

/** Calls of a pass over this archive, at most. */
const calls = 120;
const numRuns = amount(300, 8, 1);
/** Where both passes stand still: the request's while the worker goes on to there, the worker's while the request does. */
const stops = fc.tuple(fc.integer({ min: 1, max: calls }), fc.integer({ min: 1, max: calls }));
/** The request has not read the purge when the worker makes the project; the request is late for the whole archive. */
const examples: [[number, number]][] = sampled([26, 1, 33], 3).flatMap((call): [[number, number]][] => [
  [[call, 40]],
  [[call, calls]],
]);

test('an import at which the request and the worker are at once is whole, wherever each of them stands', async () => {
  await fc.assert(
    fc.asyncProperty(stops, async ([request, worker]) => {
      const sha256 = await beginImporting(lab, archive);
      const pass = (of: ArchiveLab) => passOverImport(of, sha256);
      let worked: Promise<unknown> | undefined;
      let slow: ReturnType<typeof stoppedAt> | undefined;
      await whileStopped(request, pass, async () => {
        slow = stoppedAt(worker);
        const { lab: of, goOn, stopped } = slow;
        worked = pass(of).finally(() => goOn(true));
        await stopped;
      });
      slow?.goOn(false);
      await worked;
      await requireWhole(sha256, [request, worker]);
    }),
    { numRuns: numRuns + examples.length, examples },
  );
});

/** Its owner deletes the project as soon as it is there. */
async function deleteProject(sha256: string): Promise<void> {
  const value = await findImport(lab.records, lab.user.user_id, sha256);
  const [project] = (await findProjects(lab.records, [value?.project_id ?? ''])).items;
  if (project !== undefined) await removeWholeProject({ ...lab, newId, now: () => new Date() }, project);
}

/** An import whose project was deleted leaves nothing; one that had not made it yet is whole. */
async function requireNothing(sha256: string, at: number): Promise<boolean> {
  const { status, status_reason, project_id } = await ended(sha256);
  if (status === 'SUCCEEDED') return false;
  expect([at, status_reason]).toEqual([at, 'The project was deleted during the import.']);
  expect((await findProjects(lab.records, [project_id])).items).toEqual([]);
  const versions = await lab.records.query({ pk: modelVersions });
  const purges = await lab.records.query({ pk: unfinishedPurges.partitions[0] });
  const purged = new Set(
    purges.items.flatMap((item) => parsePurge(item).target.partitions.map(({ prefix }) => prefix)),
  );
  const left = versions.items.filter(
    ({ sk, ...item }) =>
      JSON.stringify(item).includes(project_id) && !purged.has(versionsPrefix(sk.split('#')[0] ?? '')),
  );
  expect([at, left]).toEqual([at, []]);
  return true;
}

test('an import whose project is deleted leaves nothing, wherever another pass stands', async () => {
  let refused = 0;
  for (let call = 1; ; call += 3 * amount(1, 7, 9)) {
    const sha256 = await beginImporting(lab, archive);
    const stopped = await whileStopped(
      call,
      (of) => passOverImport(of, sha256),
      async () => {
        await deleteProject(sha256);
        await passOverImport(lab, sha256);
      },
    );
    if (await requireNothing(sha256, call)) refused += 1;
    if (!stopped) break;
    expect(call).toBeLessThan(300);
  }
  expect(refused).toBeGreaterThan(1);
});

test('the removal of an import whose project is deleted goes on after a crash', async () => {
  for (let call = 1; ; call += amount(1, 1, 6)) {
    const sha256 = await beginImporting(lab, archive);
    // It has recorded all but the last registered model.
    const last = dyingAt(lab, 23);
    await passOverImport(last.lab, sha256).catch(() => undefined);
    await deleteProject(sha256);
    const dying = dyingAt(lab, call);
    await passOverImport(dying.lab, sha256).catch(() => undefined);
    expect(await requireNothing(sha256, call)).toBe(true);
    if (!dying.died()) break;
    expect(call).toBeLessThan(60);
  }
});

test('an export at which two passes work is whole', async () => {
  const whole = await exported(lab, original);
  for (let call = 1; ; call += every) {
    await beginExporting(lab, original);
    const pass = (of: ArchiveLab) => passOverExport(of, original);
    const stopped = await whileStopped(call, pass, () => pass(lab));
    const value = await pass(lab);
    expect([call, value.status, value.status_reason]).toEqual([call, 'SUCCEEDED', null]);
    expect((await archiveOf(lab, value)).equals(whole)).toBe(true);
    if (!stopped) break;
    expect(call).toBeLessThan(300);
  }
});

test('and none of them keeps the worker busy', async () => {
  expect((await listArchiveWork(lab.records, undefined)).items).toEqual([]);
});
