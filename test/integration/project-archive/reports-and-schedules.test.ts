import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endpoint as deleteExperiment } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as readReport } from '../../../functions/projects/reports/read-report.endpoint.ts';
import { endpoint as readReportBlock } from '../../../functions/projects/reports/read-report-block.endpoint.ts';
import { endpoint as updateReport } from '../../../functions/projects/reports/update-report.endpoint.ts';
import { endpoint as readSchedule } from '../../../functions/projects/schedules/read-schedule.endpoint.ts';
import { endpoint as resumeSchedule } from '../../../functions/projects/schedules/resume-schedule.endpoint.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { artifactObject, putImportedFile } from '../../../shared/data/experiments/artifact.ts';
import { listExperiments } from '../../../shared/data/experiments/experiment.ts';
import { createLink } from '../../../shared/data/projects/link.ts';
import { findExport } from '../../../shared/data/projects/project-archives.ts';
import { listProjectReports } from '../../../shared/data/projects/report.ts';
import { listSchedules, readScheduleConfig } from '../../../shared/data/schedules/schedule.ts';
import { listDue } from '../../../shared/data/schedules/schedule-time.ts';
import { canonicalJson } from '../../../shared/project-archive/canonical-json.ts';
import { testService } from '../../support/service.ts';
import { json } from '../users/body.ts';
import { archiveLab, exported, imported } from './archive-lab.ts';
import { type DrawnProject, recordProject } from './archived-project.ts';
import { block, recordReport, recordSchedule } from './recorded-pages.ts';
import { filesOf, packed } from './repacked-archive.ts';

/** A deployment of its own, with a developer. */
async function deployment() {
  const service = await testService();
  const as = await service.user('developer');
  const lab = archiveLab(service, as.user);
  const everything = { limit: 100, after: undefined };
  /** Ids of its experiments, the oldest first. */
  const experimentsOf = async (project_id: string) =>
    (await listExperiments(lab.records, project_id, {})).items.map((one) => one.experiment_id).reverse();
  return {
    lab,
    /** A project with a picture. @returns the experiment and the path */
    async recorded() {
      const project_id = await recordProject(lab, drawn);
      const [experiment_id = ''] = await experimentsOf(project_id);
      const object = artifactObject(project_id, experiment_id, newId());
      await lab.objects.put(object, Buffer.from('a picture'), 'image/png');
      const picture = { path: 'plot.png', size: 9, sha256: null, media_type: 'image/png', object };
      await lab.records.write(
        putImportedFile(experiment_id, 'artifact', { ...picture, created_at: '2026-02-03T04:05:06.007Z' }),
      );
      return { project_id, experiment_id, path: picture.path };
    },
    ask: (
      endpoint: Parameters<typeof service.call>[0],
      path: Readonly<Record<string, string>>,
      body?: object,
    ) => service.call(endpoint, { as, path, ...(body && json(body)) }),
    experimentsOf,
    reportsOf: async (project_id: string) =>
      (await listProjectReports(lab.records, project_id, everything)).items,
    schedulesOf: async (project_id: string) =>
      (await listSchedules(lab.records, project_id, everything)).items,
  };
}

const drawn: DrawnProject = {
  description: 'Reads digits',
  configs: {},
  hasEnvironment: false,
  source: Buffer.from('source'),
  datasets: {},
  experiments: [1, 2].map((value) => ({
    isTrained: true,
    tags: {},
    note: '',
    points: [{ name: 'loss', value, step: 1, time: Date.parse('2026-01-02T03:04:05.006Z') }],
    lines: [],
    artifacts: {},
    hasParent: false,
  })),
  models: [],
};

/** The archive of a project with a report of these blocks. */
async function archiveWith(textOf: (experiments: readonly string[]) => string) {
  const { lab, experimentsOf, recorded } = await deployment();
  const { project_id } = await recorded();
  const experiments = await experimentsOf(project_id);
  await recordReport(lab, project_id, 'Rates', textOf(experiments));
  return { archive: await exported(lab, project_id), experiments };
}

test('a report arrives with its text, its frozen data and locks on the experiments that it names', async () => {
  const there = await deployment();
  const { archive, experiments } = await archiveWith(([one = '', other = '']) =>
    [
      `The [first](#experiments/${one}) ~ of two\n`,
      block('table', `experiments: ${one}, ${other.toUpperCase()}`, 'column: best', 'frozen: true'),
      block('picture', `experiment: ${one}`, 'path: plot.png', 'frozen: true'),
      block('chart', `experiments: ${other}`, 'metric: loss'),
    ].join(''),
  );

  const { project_id } = await imported(there.lab, archive);
  const [one = '', other = ''] = await there.experimentsOf(project_id);
  const [head] = await there.reportsOf(project_id);
  const path = { project_id, report_id: head?.report_id ?? '' };
  const { json: report } = await there.ask(readReport, path);
  const shown = [];
  for (const number of ['1', '2', '3'])
    shown.push((await there.ask(readReportBlock, { ...path, block: number })).json);
  const refused = await there.ask(deleteExperiment, { project_id, experiment_id: other });

  expect(experiments.filter((id) => archive.includes(id))).toEqual([]);
  expect(report).toMatchObject({ title: 'Rates', updated_by: there.lab.user.username });
  expect(report.text).toContain(`The [first](#experiments/${one}) ~ of two\n`);
  expect(shown).toMatchObject([
    {
      frozen_at: expect.any(String),
      data: { kind: 'table', rows: [{ run: { experiment_id: one } }, { run: { experiment_id: other } }] },
    },
    { frozen_at: expect.any(String), data: { kind: 'picture', path: 'plot.png', size: 9 } },
    { frozen_at: null, data: { kind: 'chart', charts: [{ curves: [{ run: { experiment_id: other } }] }] } },
  ]);
  expect([refused.status, refused.json.detail]).toEqual([409, expect.stringContaining('"Rates"')]);
});

/** An archive with a document of it changed. */
const withDocument = (archive: Buffer, path: string, change: (document: Document) => object): Buffer =>
  packed(
    filesOf(archive).map(([one, bytes, claimed = {}]) => [
      one,
      one === path ? Buffer.from(canonicalJson(change(JSON.parse(String(bytes))))) : bytes,
      claimed,
    ]),
  );
type Document = Record<string, unknown> & { inputs: object };

const reportPath = 'reports/000001/report.json';

/** An archive of a report with one frozen block, whose data somebody made up. */
async function archiveWithForged(text: string, data: string): Promise<Buffer> {
  const { archive } = await archiveWith(() => 'text');
  const frozen = [{ at: '2026-02-03T04:05:06.007Z', block: 1, data }];
  return withDocument(archive, reportPath, (document) => ({ ...document, text, frozen }));
}

test('a made-up picture is missing, whether or not another project has a file of its path', async () => {
  const there = await deployment();
  const other = await there.recorded();
  const run = { experiment_id: other.experiment_id, name: 'a', status: 'SUCCEEDED', outcome: null };
  const text = block('picture', `experiment: ${newId()}`, 'path: plot.png', 'frozen: true');
  const shown = [];
  for (const path of [other.path, 'nothing.png']) {
    const data = { kind: 'picture', run, path, size: 9, media_type: 'image/png' };
    const { project_id } = await imported(there.lab, await archiveWithForged(text, JSON.stringify(data)));
    const [report] = await there.reportsOf(project_id);
    const ids = { project_id, report_id: report?.report_id ?? '', block: '1' };
    shown.push((await there.ask(readReportBlock, ids)).json.data);
  }

  expect(shown).toEqual([1, 2].map(() => ({ kind: 'missing', reason: expect.any(String) })));
});

test.each([
  ['of any depth', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ['that no page can show', '{"a":{"toString":1}}'],
])('the best params of a frozen sweep %s are refused', async (_, params) => {
  const { lab } = await deployment();
  const sweep_id = newId();
  const data = {
    ...{ kind: 'sweep', sweep_id, name: 'a', status: 'RUNNING', metric: 'loss', goal: 'minimize' },
    ...{ trials: 1, ended: 1, best: { value: 1, params: 'PARAMS' } },
  };
  const text = block('sweep', `sweep: ${sweep_id}`, 'frozen: true');
  const forged = await archiveWithForged(text, JSON.stringify(data).replace('"PARAMS"', params));

  const { status, status_reason } = await imported(lab, forged);

  expect([status, status_reason]).toEqual([
    'FAILED',
    expect.stringContaining(`${reportPath}: the data of block 1 do not match this format`),
  ]);
});

const schedulePath = 'schedules/000001/schedule.json';

/** An archive of a project with a schedule. */
async function archiveWithSchedule(): Promise<Buffer> {
  const { lab } = await deployment();
  const project_id = await recordProject(lab, drawn);
  await recordSchedule(lab, project_id);
  return exported(lab, project_id);
}

test.each([
  ['a cluster that says it is one machine', { nodes: 2 }, /inputs\.kind must be train-remote/],
  ['one machine that says it is a cluster', { kind: 'train-remote' }, /inputs\.kind must be train /],
  ['the digest of another configuration', { config_sha256: 'a'.repeat(64) }, /inputs\.config_sha256/],
])('a schedule is refused with %s', async (_, inputs, reason) => {
  const { lab } = await deployment();
  const forged = withDocument(await archiveWithSchedule(), schedulePath, (document) => ({
    ...document,
    inputs: { ...document.inputs, ...inputs },
  }));

  const { status, status_reason } = await imported(lab, forged);

  expect([status, status_reason]).toEqual(['FAILED', expect.stringMatching(reason)]);
});

test('a schedule without its configuration is refused', async () => {
  const { lab } = await deployment();
  const files = filesOf(await archiveWithSchedule()).filter(([path]) => path !== 'schedules/000001/config');

  const { status, status_reason } = await imported(lab, packed(files));

  expect([status, status_reason]).toEqual([
    'FAILED',
    expect.stringContaining(`${schedulePath} lacks its configuration`),
  ]);
});

test('a block of what the archive does not contain says so, and keeps nothing else from coming', async () => {
  const there = await deployment();
  const here = await deployment();
  const project_id = await recordProject(here.lab, drawn);
  await recordReport(here.lab, project_id, 'Rates', 'text');
  const gone = newId();
  const text = block('sweep', `sweep: ${gone}`) + block('table', `experiments: ${gone}`);
  const archive = withDocument(await exported(here.lab, project_id), reportPath, (document) => ({
    ...document,
    text,
  }));

  const { status, project_id: copy } = await imported(there.lab, archive);
  const [report] = await there.reportsOf(copy);
  const path = { project_id: copy, report_id: report?.report_id ?? '' };
  const shown = [];
  for (const number of ['1', '2'])
    shown.push((await there.ask(readReportBlock, { ...path, block: number })).json.data.kind);

  expect([status, report?.experiments, report?.sweeps]).toEqual(['SUCCEEDED', [], []]);
  expect(shown).toEqual(['missing', 'missing']);
});

test('a report whose blocks name what did not come can be edited, and new blocks name what is there', async () => {
  const there = await deployment();
  const here = await deployment();
  const project_id = await recordProject(here.lab, drawn);
  await recordReport(here.lab, project_id, 'Rates', 'text');
  const gone = newId();
  const kept = [
    block('sweep', `sweep: ${gone}`, 'frozen: true'),
    block('table', `experiments: ${gone}`),
    block('table', 'view: gone'),
  ];
  const archive = withDocument(await exported(here.lab, project_id), reportPath, (document) => ({
    ...document,
    text: kept.join(''),
  }));
  const { project_id: copy } = await imported(there.lab, archive);
  const [report] = await there.reportsOf(copy);
  const [experiment_id = ''] = await there.experimentsOf(copy);
  const path = { project_id: copy, report_id: report?.report_id ?? '' };
  const change = async (...blocks: string[]) => {
    const { status, json: answer } = await there.ask(updateReport, path, {
      text: `# Edited\n${blocks.join('')}`,
    });
    return [status, answer.errors?.map(({ message }: { message: string }) => message)];
  };

  const edited = await change(...kept, block('table', `experiments: ${experiment_id}`));
  const [stored] = await there.reportsOf(copy);
  const renamed = await there.ask(updateReport, path, { title: 'Renamed' });
  const wrong = await change(...kept, block('sweep', `sweep: ${gone}`));
  const shorter = await change(...kept.slice(1));

  expect(edited).toEqual([200, undefined]);
  expect(stored).toMatchObject({ experiments: [experiment_id], sweeps: [], frozen: {} });
  expect(renamed.status).toBe(200);
  expect(wrong).toEqual([400, [`the project has no experiment or sweep ${gone}`]]);
  expect(shorter).toEqual([200, undefined]);
});

test('a schedule comes paused and as the importer’s, so nothing fires before it is resumed', async () => {
  const [here, there] = [await deployment(), await deployment()];
  const project_id = await recordProject(here.lab, drawn);
  await recordSchedule(here.lab, project_id);

  const { project_id: copy, schedules } = await imported(there.lab, await exported(here.lab, project_id));
  const [schedule] = await there.schedulesOf(copy);
  const path = { project_id: copy, schedule_id: schedule?.schedule_id ?? '' };
  const { json: shown } = await there.ask(readSchedule, path);
  const due = await listDue(there.lab.records, new Date('2999-01-01'), undefined);
  const { json: resumed } = await there.ask(resumeSchedule, path);

  expect(schedules).toBe(1);
  expect(shown).toMatchObject({
    ...{ name: 'nightly', cron: '0 3 * * 1-5', zone: 'Europe/Berlin', overlap: 'queue', budget: 2.5 },
    ...{ status: 'PAUSED', next_at: null, running: null, recent: [], failures: 0 },
    status_reason: 'It came with an archive. Whoever resumes it, it runs as that user.',
    username: there.lab.user.username,
    command: 'python3 train.py',
  });
  expect(Buffer.from(await readScheduleConfig(there.lab.records, path)).toString()).toBe('lr: 0.1\n');
  expect(due.items).toEqual([]);
  expect([resumed.status, resumed.username]).toEqual(['ACTIVE', there.lab.user.username]);
});

test('the receipt of an export counts the links, which are left out', async () => {
  const { lab } = await deployment();
  const project_id = await recordProject(lab, drawn);
  const expires_at = new Date(Date.now() + 60_000).toISOString();
  await createLink(lab.records, {
    ...{ link_id: newId(), project_id, subject: { kind: 'experiment', experiment_ids: [] } },
    ...{ hide: [], anonymous: false, files: false, created_by: lab.user.user_id },
    ...{ created_at: expires_at, expires_at },
  });

  await exported(lab, project_id);

  expect(await findExport(lab.records, project_id)).toMatchObject({ links: 1, members: 0 });
});

test('an archive of the format before reports and schedules still opens', async () => {
  const { lab } = await deployment();
  const file = join(import.meta.dirname, '../../fixtures/project-archives/format-2.zip');

  const { status, status_reason, project_id } = await imported(lab, readFileSync(file));
  const again = await exported(lab, project_id);
  const second = await imported(lab, again);

  expect([status, status_reason]).toEqual(['SUCCEEDED', null]);
  expect((await exported(lab, second.project_id)).equals(again)).toBe(true);
});
