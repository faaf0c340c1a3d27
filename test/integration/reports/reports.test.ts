import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as deleteExperiment } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as deleteExperiments } from '../../../functions/experiments/records/delete-experiments.endpoint.ts';
import { endpoint as restoreExperiments } from '../../../functions/experiments/records/restore-experiments.endpoint.ts';
import { endpoint as updateExperiment } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import { endpoint as createLink } from '../../../functions/links/create-link.endpoint.ts';
import { endpoint as downloadSharedFile } from '../../../functions/links/download-shared-file.endpoint.ts';
import { endpoint as readShared } from '../../../functions/links/read-shared.endpoint.ts';
import { endpoint as readSharedBlock } from '../../../functions/links/read-shared-block.endpoint.ts';
import { endpoint as readSharedChart } from '../../../functions/links/read-shared-chart.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { endpoint as createReport } from '../../../functions/projects/reports/create-report.endpoint.ts';
import { endpoint as deleteReport } from '../../../functions/projects/reports/delete-report.endpoint.ts';
import { endpoint as listReports } from '../../../functions/projects/reports/list-reports.endpoint.ts';
import { endpoint as readReport } from '../../../functions/projects/reports/read-report.endpoint.ts';
import { endpoint as readReportBlock } from '../../../functions/projects/reports/read-report-block.endpoint.ts';
import { endpoint as updateReport } from '../../../functions/projects/reports/update-report.endpoint.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { type PeopledService, type Person, peopledService } from '../access/people.ts';
import { madeLink, reader, recordedRun, sentFile } from '../links/shared-run.ts';
import { json } from '../users/body.ts';

let service: PeopledService;
let owner: Person;
let project_id: string;
beforeAll(async () => {
  service = await peopledService();
  owner = service.people.developer;
  project_id = await service.projectOf(owner.user);
});

const block = (kind: string, ...lines: string[]) => `\`\`\`mps ${kind}\n${lines.join('\n')}\n\`\`\`\n`;

const ask = (endpoint: AnyEndpoint, path: Record<string, string>, body?: object, as = owner) =>
  service.call(endpoint, { as, path: { project_id, ...path }, ...(body && json(body)) });

async function written(text: string, title = 'Report'): Promise<string> {
  const made = await ask(createReport, {}, { title, text });
  expect(made.status, made.text).toBe(200);
  return made.json.report_id;
}

const shownBy = async (report_id: string, number: number, as = owner) =>
  (await ask(readReportBlock, { report_id, block: String(number) }, undefined, as)).json;

describe('a report', () => {
  test('shows values, tables, charts and pictures of its project as they are now', async () => {
    const [one, other] = [
      await recordedRun(service, owner, project_id),
      await recordedRun(service, owner, project_id, { name: 'second', params: { lr: '0.2' } }),
    ];
    await sentFile(service, owner, { project_id, experiment_id: one, path: 'images/a.png' });
    const both = `experiments: ${one}, ${other}`;

    const report_id = await written(
      [
        '# Findings',
        block('value', `experiment: ${one}`, 'metric: loss', 'show: min'),
        block('table', both),
        block('chart', both, 'metric: loss', 'note: 2 lr halved'),
        block('picture', `experiment: ${one}`, 'path: images/a.png'),
      ].join('\n'),
    );
    await ask(updateExperiment, { experiment_id: one }, { name: 'renamed' });

    expect((await shownBy(report_id, 1)).data).toMatchObject({ value: 1 / 3, step: 3 });
    expect((await shownBy(report_id, 2)).data).toMatchObject({
      columns: ['metrics.loss', 'params.lr'],
      rows: [{ run: { name: 'renamed' }, values: [1 / 3, '0.1'] }, { run: { name: 'second' } }],
      complete: true,
    });
    expect((await shownBy(report_id, 3)).data.charts).toMatchObject([
      { metric: 'loss', curves: [{ steps: [1, 2, 3], values: [1, 0.5, 1 / 3] }, { steps: [1, 2, 3] }] },
    ]);
    expect((await shownBy(report_id, 4)).data).toEqual({
      kind: 'picture',
      run: expect.objectContaining({ experiment_id: one }),
      path: 'images/a.png',
      size: 6,
      media_type: expect.any(String),
    });
  });

  test('keeps what a frozen block showed, also when other lines change', async () => {
    const experiment_id = await recordedRun(service, owner, project_id);
    const frozen = block('table', `experiments: ${experiment_id}`, 'frozen: true');
    const report_id = await written(frozen);

    await ask(updateExperiment, { experiment_id }, { name: 'renamed' });
    const changed = await ask(updateReport, { report_id }, { text: `More text.\n\n${frozen}` });

    expect(changed.json.blocks).toEqual([
      { kind: 'table', title: null, frozen_at: expect.stringMatching(/^2/) },
    ]);
    expect((await shownBy(report_id, 1)).data.rows).toMatchObject([{ run: { name: 'baseline' } }]);
  });

  test('names all faults of its text at once, with their lines', async () => {
    const stranger = await service.projectOf(service.people['other developer'].user);
    const foreign = await recordedRun(service, service.people['other developer'], stranger);

    const faulty = await ask(
      createReport,
      {},
      {
        title: 'Faults',
        text: [block('chart', 'metrics: loss'), block('movie'), block('table', 'view: none')].join(''),
      },
    );
    const outside = await ask(
      createReport,
      {},
      {
        title: 'Foreign',
        text: block('table', `experiments: ${foreign}`),
      },
    );

    expect(faulty.status).toBe(400);
    expect(faulty.json.errors.map(({ message }: { message: string }) => message)).toEqual([
      expect.stringContaining('line 2: metrics is no key of a chart'),
      'line 1: a chart needs metric',
      'line 1: a chart needs one of experiments, sweep, view',
      expect.stringContaining('line 4: "movie" is no block'),
      'the project has no view "none"',
    ]);
    expect(outside.json.errors).toEqual([
      { in: 'body', name: 'text', message: `the project has no experiment or sweep ${foreign}` },
    ]);
  });

  test('is read by viewers, and written by developers of its project alone', async () => {
    const report_id = await written('Text');
    const {
      'member viewer': viewer,
      'member developer': developer,
      'other developer': other,
    } = service.people;

    const [read, list] = [
      await ask(readReport, { report_id }, undefined, viewer),
      await ask(listReports, {}, undefined, viewer),
    ];
    const refused = await ask(updateReport, { report_id }, { text: 'theirs' }, viewer);
    const strange = await ask(updateReport, { report_id }, { text: 'theirs' }, other);

    expect([read.status, list.status]).toEqual([200, 200]);
    expect([refused.status, strange.status]).toEqual([403, 403]);
    expect(developer).toBeDefined();
  });
});

describe('what a report names', () => {
  test('cannot be deleted by any way until the report lets it go', async () => {
    const experiment_id = await recordedRun(service, owner, project_id);
    await ask(updateExperiment, { experiment_id }, { status: 'SUCCEEDED' });
    const report_id = await written(block('value', `experiment: ${experiment_id}`, 'metric: loss'), 'Kept');

    const one = await ask(deleteExperiment, { experiment_id });
    const many = await ask(deleteExperiments, {}, { experiment_ids: [experiment_id] });
    await ask(updateReport, { report_id }, { text: 'Nothing' });
    const after = await ask(deleteExperiments, {}, { experiment_ids: [experiment_id] });
    const again = await ask(
      updateReport,
      { report_id },
      {
        text: block('value', `experiment: ${experiment_id}`, 'metric: loss'),
      },
    );
    await ask(restoreExperiments, {}, { experiment_ids: [experiment_id] });

    expect(one.status).toBe(409);
    expect(one.json.detail).toContain('"Kept"');
    expect(many.json).toMatchObject({ deleted: [], shown: [experiment_id] });
    expect(after.json).toMatchObject({ deleted: [experiment_id], shown: [] });
    expect(again.status).toBe(400);
    expect((await ask(deleteExperiment, { experiment_id })).status).toBe(200);
  });

  test('is free after the report is deleted, and a view stays as long', async () => {
    const views = [{ name: 'all', address: 'sort=best' }];
    await ask(updateProject, {}, { views });
    const report_id = await written(block('table', 'view: all'), 'With a view');

    const kept = await ask(updateProject, {}, { views: [] });
    await ask(deleteReport, { report_id });
    const freed = await ask(updateProject, {}, { views: [] });

    expect([kept.status, freed.status]).toEqual([409, 200]);
    expect((await ask(readReport, { report_id })).status).toBe(404);
  });
});

describe('a link of a report', () => {
  test('shows what the report named when it was made, and nothing that is written into it later', async () => {
    const [shared, secret] = [
      await recordedRun(service, owner, project_id),
      await recordedRun(service, owner, project_id, { name: 'secret' }),
    ];
    for (const path of ['images/a.png', 'model.bin'])
      await sentFile(service, owner, { project_id, experiment_id: shared, path });
    const picture = (path: string) => block('picture', `experiment: ${shared}`, `path: ${path}`);
    const report_id = await written(picture('images/a.png'), 'Shared');
    const subject = { kind: 'report', report_id };
    const { secret: key } = await madeLink(service, owner, project_id, { subject });
    const anonymous = await ask(createLink, {}, { subject, anonymous: true });

    const later = block('value', `experiment: ${secret}`, 'metric: loss');
    await ask(
      updateReport,
      { report_id },
      { text: `${picture('images/a.png')}${later}${picture('model.bin')}` },
    );
    const get = await reader(service, key);
    const page = await get(readShared);
    const blocks = await Promise.all(
      ['1', '2', '3'].map((number) => get(readSharedBlock, {}, { block: number })),
    );
    const files = await Promise.all(
      ['images/a.png', 'model.bin'].map((path) => get(downloadSharedFile, { experiment: shared }, { path })),
    );
    const chart = await get(readSharedChart, { experiment: shared });

    expect(anonymous.status).toBe(400);
    expect(page.json).toMatchObject({ kind: 'report', title: 'Shared', experiments: [] });
    expect(blocks.map(({ json: { data } }) => data.kind)).toEqual(['picture', 'missing', 'missing']);
    expect(JSON.stringify(blocks.map(({ json: answer }) => answer))).not.toContain('"secret"');
    expect(files.map(({ status }) => status)).toEqual([302, 404]);
    expect(chart.status).toBe(404);
    await ask(deleteReport, { report_id });
    expect((await get(readShared)).status).toBe(404);
  });

  test('shows a view as it was, also if its block is frozen after the view was widened', async () => {
    const ids = [];
    for (const name of ['shown', 'hidden']) ids.push(await recordedRun(service, owner, project_id, { name }));
    const view = (name: string) => ({ views: [{ name: 'chosen', address: `filter=name%3D${name}` }] });
    await ask(updateProject, {}, view('shown'));
    const frozen = block('table', 'view: chosen', 'frozen: true');
    const report_id = await written(frozen);
    const { secret } = await madeLink(service, owner, project_id, { subject: { kind: 'report', report_id } });
    const get = await reader(service, secret);
    const before = await get(readSharedBlock, {}, { block: '1' });

    await ask(updateReport, { report_id }, { text: 'Without it.' });
    await ask(updateProject, {}, view('hidden'));
    await ask(updateReport, { report_id }, { text: frozen });
    const after = await get(readSharedBlock, {}, { block: '1' });

    const names = [before, after, { json: await shownBy(report_id, 1) }].map(({ json: { data } }) =>
      data.rows.map(({ run }: { run: { name: string } }) => run.name),
    );
    expect(before.json.frozen_at).not.toBeNull();
    expect(names).toEqual([['shown'], ['shown'], ['hidden']]);
  });
});
