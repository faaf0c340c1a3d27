import { beforeAll, describe, expect, test, vi } from 'vitest';
import { endpoint as listProjectAudit } from '../../../functions/audit/list-project-audit.endpoint.ts';
import { endpoint as deleteExperiment } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as deleteExperiments } from '../../../functions/experiments/records/delete-experiments.endpoint.ts';
import { endpoint as updateExperiment } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import { endpoint as createLink } from '../../../functions/links/create-link.endpoint.ts';
import { endpoint as deleteLink } from '../../../functions/links/delete-link.endpoint.ts';
import { endpoint as downloadSharedFile } from '../../../functions/links/download-shared-file.endpoint.ts';
import { endpoint as listLinks } from '../../../functions/links/list-links.endpoint.ts';
import { endpoint as listSharedFiles } from '../../../functions/links/list-shared-files.endpoint.ts';
import { endpoint as openLink } from '../../../functions/links/open-link.endpoint.ts';
import { endpoint as readShared } from '../../../functions/links/read-shared.endpoint.ts';
import { endpoint as readSharedChart } from '../../../functions/links/read-shared-chart.endpoint.ts';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { endpoint as createSweep } from '../../../functions/projects/sweeps/create-sweep.endpoint.ts';
import { endpoint as deleteSweep } from '../../../functions/projects/sweeps/delete-sweep.endpoint.ts';
import { isOperation } from '../../../shared/http/definition/request-method.ts';
import { accessTable } from '../access/access-table.ts';
import { operations } from '../access/operations.ts';
import { type PeopledService, type Person, peopledService } from '../access/people.ts';
import { endpoints } from '../audit/writing-requests.ts';
import { json } from '../users/body.ts';
import { madeLink, reader, recordedRun, sentFile } from './shared-run.ts';

let service: PeopledService;
let owner: Person;
let project_id: string;
let experiment_id: string;
beforeAll(async () => {
  service = await peopledService();
  owner = service.people.developer;
  project_id = await service.projectOf(owner.user);
  experiment_id = await recordedRun(service, owner, project_id);
});

const experiment = (id = experiment_id) => ({ subject: { kind: 'experiment', experiment_id: id } });

describe('a link', () => {
  test('shows an experiment to a stranger, with its curves, and no file', async () => {
    const { secret } = await madeLink(service, owner, project_id, experiment());
    const ask = await reader(service, secret);

    const shown = await ask(readShared);
    const chart = await ask(readSharedChart, { experiment: experiment_id });
    const files = await ask(listSharedFiles, { experiment: experiment_id });

    expect(shown.json).toMatchObject({ kind: 'experiment', project: 'digits', files: false });
    expect(shown.json.experiments).toEqual([
      expect.objectContaining({
        name: 'baseline',
        params: { lr: '0.1' },
        user: owner.user.username,
        metrics: { loss: expect.objectContaining({ count: 3, last: 1 / 3 }) },
      }),
    ]);
    expect(chart.text).toContain('loss');
    expect(chart.headers['content-type']).toContain('image/svg+xml');
    expect(files.status).toBe(404);
  });

  test('lets its files be downloaded only if it has them', async () => {
    const path = { project_id, experiment_id, path: 'model/weights.bin' };
    await sentFile(service, owner, path);
    const { secret } = await madeLink(service, owner, project_id, { ...experiment(), files: true });
    const closed = await madeLink(service, owner, project_id, experiment());
    const ask = await reader(service, secret);
    const other = await reader(service, closed.secret);

    const files = await ask(listSharedFiles, { experiment: experiment_id });
    const download = await ask(downloadSharedFile, { experiment: experiment_id }, { path: path.path });
    const refused = await other(downloadSharedFile, { experiment: experiment_id }, { path: path.path });
    const { experiment_id: foreign } = owner;
    const climbing = [
      '../weights.bin',
      'model/../model/weights.bin',
      `../${foreign}/model.bin`,
      '/model/weights.bin',
      'model%2Fweights.bin',
      'model/weights.bin\0',
    ];
    const escaped = await Promise.all([
      ...climbing.map((one) => ask(downloadSharedFile, { experiment: experiment_id }, { path: one })),
      ask(downloadSharedFile, { experiment: foreign }, { path: 'model.bin' }),
      ask(listSharedFiles, { experiment: foreign }),
    ]);

    expect(files.json).toEqual([expect.objectContaining({ path: 'model/weights.bin', size: 6 })]);
    expect([download.status, refused.status]).toEqual([302, 404]);
    expect(escaped.map(({ status }) => status).filter((status) => status !== 404 && status !== 400)).toEqual(
      [],
    );
    expect(
      Buffer.from(await (await fetch(download.headers['location'] ?? '')).arrayBuffer()).toString(),
    ).toBe('a file');
  });

  test('shows a comparison, a sweep and a view, and no other experiment', async () => {
    const second = await recordedRun(service, owner, project_id, { name: 'second', params: { lr: '0.5' } });
    const third = await recordedRun(service, owner, project_id, { name: 'third', params: { lr: '0.9' } });
    const views = [{ name: 'large', address: `filter=${encodeURIComponent('params.lr > 0.8')}` }];
    await service.call(updateProject, { as: owner, path: { project_id }, ...json({ views }) });
    const spec = { config: 'train.yaml', method: 'external', trials: 2, name: 'trials' };
    const in_project = owner.project_id;
    const sweep = await service.must(createSweep, { path: { project_id: in_project }, ...json(spec) });
    const subjects = [
      [project_id, { kind: 'comparison', experiment_ids: [experiment_id, second] }],
      [project_id, { kind: 'view', name: 'large' }],
      [in_project, { kind: 'sweep', sweep_id: sweep.sweep_id }],
    ] as const;

    const shown = await Promise.all(
      subjects.map(async ([id, subject]) => {
        const { secret } = await madeLink(service, owner, id, { subject });
        const ask = await reader(service, secret);
        const { json: shared } = await ask(readShared);
        const other = await ask(readSharedChart, { experiment: third });
        return [
          shared.title,
          shared.experiments.map(({ name }: { name: string }) => name).sort(),
          other.status,
        ];
      }),
    );

    expect(shown).toEqual([
      [null, ['baseline', 'second'], 404],
      ['large', ['third'], 200],
      ['trials', [], 404],
    ]);
  });

  test('of a view shows what the view shows to its owner, in its order, and ends with it', async () => {
    const id = await service.projectOf(owner.user);
    for (const [name, lr] of [
      ['a', '0.5'],
      ['b', '0.9'],
      ['c', '0.7'],
    ] as const)
      await recordedRun(service, owner, id, { name, params: { lr } });
    const me = owner.user.username;
    const addresses = {
      free: { filter: 'lr > 0.6', sort: '-params.lr' },
      mine: { filter: `user = '${me}'`, sort: 'params.lr' },
      others: { filter: `user != '${me}'` },
      best: { filter: 'not best > 0.1', sort: 'best' },
      absent: { filter: 'momentums > 1' },
      least: { sort: 'metrics.loss:min' },
    };
    const views = Object.entries(addresses).map(([name, query]) => ({
      name,
      address: new URLSearchParams(query).toString(),
    }));
    const change = (kept: typeof views) =>
      service.call(updateProject, {
        as: owner,
        path: { project_id: id },
        ...json({ views: kept, criterion: 'loss', criterion_goal: 'minimize' }),
      });
    await change(views);
    const asks = await Promise.all(
      views.map(async ({ name }) =>
        reader(service, (await madeLink(service, owner, id, { subject: { kind: 'view', name } })).secret),
      ),
    );

    const shown = await Promise.all(asks.map((ask) => ask(readShared)));
    await change(views.slice(1));
    const after = await Promise.all(asks.slice(0, 2).map((ask) => ask(readShared)));

    expect(
      shown.map(({ json: { experiments } }) =>
        experiments.map(({ name }: { name: string }) => name).join(''),
      ),
    ).toEqual(['bc', 'acb', '', '', '', 'cba']);
    expect(after.map(({ status }) => status)).toEqual([404, 200]);
  });

  test('of a sweep that is deleted is gone at once', async () => {
    const in_project = owner.project_id;
    const spec = { config: 'train.yaml', method: 'external', trials: 2, name: 'short' };
    const { sweep_id } = await service.must(createSweep, { path: { project_id: in_project }, ...json(spec) });
    const { secret } = await madeLink(service, owner, in_project, { subject: { kind: 'sweep', sweep_id } });
    const ask = await reader(service, secret);
    const before = await ask(readShared);

    await service.call(deleteSweep, { as: owner, path: { project_id: in_project, sweep_id } });

    expect([before.status, (await ask(readShared)).status]).toEqual([200, 404]);
  });

  test('is told by the audit with who made and revoked it, and neither there nor in logs by its secret', async () => {
    const { secret, link_id } = await madeLink(service, owner, project_id, experiment());
    const lines: string[] = [];
    const write = vi
      .spyOn(process.stdout, 'write')
      .mockImplementation((line) => lines.push(String(line)) > 0);
    const environment = { ...service.environment, LOG_LEVEL: 'debug' };
    const { json: opened } = await service.call(openLink, { environment, ...json({ secret }) });
    const headers = { Authorization: `Link ${opened.session}` };
    const read = await service.call(readShared, { environment, headers });
    write.mockRestore();
    await service.call(deleteLink, { as: owner, path: { project_id, link_id } });

    const audit = await service.call(listProjectAudit, { as: owner, path: { project_id } });

    const told = audit.json.filter(
      ({ subject }: { subject: Record<string, string> }) => subject['link_id'] === link_id,
    );
    expect(told.map(({ operation, username }: Record<string, string>) => `${operation} ${username}`)).toEqual(
      [`deleteLink ${owner.user.username}`, `createLink ${owner.user.username}`],
    );
    expect([read.status, lines.length]).toEqual([200, 2]);
    const hidden = [secret.split('.')[2] ?? '', opened.session.split('.')[3]];
    expect(hidden.filter((one) => `${audit.text}${lines.join('')}`.includes(one))).toEqual([]);
  });

  test('that is revoked is dead at the next request of a page that has it open', async () => {
    const { secret, link_id } = await madeLink(service, owner, project_id, experiment());
    const ask = await reader(service, secret);
    const elsewhere = { ...service.environment, LOG_LEVEL: 'error' };
    const before = await Promise.all([ask(readShared), ask(readShared, {}, {}, elsewhere)]);
    await service.call(deleteLink, { as: owner, path: { project_id, link_id } });

    // Another process that has read the link has nothing to forget.
    const after = await Promise.all([
      ask(readShared),
      ask(readShared, {}, {}, elsewhere),
      ask(readSharedChart, { experiment: experiment_id }, {}, elsewhere),
    ]);
    const opened = await service.call(openLink, json({ secret }));
    const again = await service.call(deleteLink, { as: owner, path: { project_id, link_id } });

    expect(before.map(({ status }) => status)).toEqual([200, 200]);
    expect([...after, opened, again].map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
  });

  test('of a run or project that is deleted says no more than one that never was', async () => {
    const id = await service.projectOf(owner.user);
    const runs = await Promise.all(['a', 'b', 'c'].map((name) => recordedRun(service, owner, id, { name })));
    const links = await Promise.all(runs.map((run) => madeLink(service, owner, id, experiment(run))));
    const asks = await Promise.all(links.map(({ secret }) => reader(service, secret)));
    const path = { project_id: id };
    await service.call(updateExperiment, {
      as: owner,
      path: { ...path, experiment_id: runs[0] ?? '' },
      ...json({ status: 'SUCCEEDED' }),
    });
    await service.call(deleteExperiment, { as: owner, path: { ...path, experiment_id: runs[0] ?? '' } });
    await service.call(deleteExperiments, { as: owner, path, ...json({ experiment_ids: [runs[1]] }) });
    const answers = [await asks[0]?.(readShared), await asks[1]?.(readShared)];
    await service.call(deleteProject, { as: owner, path });
    answers.push(await asks[2]?.(readShared));
    answers.push(await service.call(openLink, json({ secret: links[2]?.secret })));
    answers.push(await service.call(readShared, { headers: { Authorization: 'Link nothing' } }));

    expect(new Set(answers.map((answer) => `${answer?.status} ${answer?.json.detail}`))).toEqual(
      new Set(['404 There is no such link, or it has ended.']),
    );
  });

  test('is listed for the owner without its secret, and made only of what there is', async () => {
    const { link_id } = await madeLink(service, owner, project_id, { ...experiment(), expires_in: 3600 });
    const listed = await service.call(listLinks, { as: owner, path: { project_id } });
    const stored = await service.records.query({ pk: `LINKS#${project_id}` });
    const bad = [
      experiment('01h00000000000000000000000'),
      // Of another project of the same owner.
      experiment(owner.experiment_id),
      { subject: { kind: 'comparison', experiment_ids: [experiment_id, owner.experiment_id] } },
      { subject: { kind: 'view', name: 'absent' } },
      { subject: { kind: 'sweep', sweep_id: '01h00000000000000000000000' } },
      { ...experiment(), expires_in: 366 * 86_400 },
      { subject: { kind: 'comparison', experiment_ids: [experiment_id] } },
      { subject: { kind: 'project' } },
    ];
    const statuses = await Promise.all(
      bad.map(
        async (body) =>
          (await service.call(createLink, { as: owner, path: { project_id }, ...json(body) })).status,
      ),
    );

    expect(listed.json[0]).toMatchObject({ link_id, kind: 'experiment', about: [experiment_id] });
    expect(listed.text).not.toContain('secret');
    expect(JSON.stringify(stored.items)).not.toContain('"secret"');
    expect(statuses).toEqual([404, 404, 404, 404, 404, 400, 400, 400]);
  });

  test('gives no answer of any other operation', async () => {
    const { secret } = await madeLink(service, owner, owner.project_id, {
      subject: { kind: 'experiment', experiment_id: owner.experiment_id },
      files: true,
    });
    const { json: opened } = await service.call(openLink, json({ secret }));
    const others: string[] = [];
    let asked = 0;
    for (const row of Object.keys(accessTable)) {
      const endpoint = endpoints.get(row.split(',')[0] ?? '');
      if (endpoint === undefined) throw new Error('there is no such operation');
      if (endpoint.allow === 'anyone' && endpoint.permit === undefined && isOperation(endpoint)) continue;
      const cell = { service, caller: owner, target: owner };
      const call = (await operations[row]?.call?.(cell)) ?? {};
      const names = {
        ...owner,
        user_id: owner.user.user_id,
        username: owner.user.username,
        name: 'HF_TOKEN',
      };
      const path = { ...names, config_id: 'train.yaml', dataset: 'digits', path: 'model.bin', ...call.path };
      for (const credential of [
        `Link ${opened.session}`,
        `Link ${secret}`,
        `Bearer ${opened.session}`,
        `Bearer ${secret}`,
      ]) {
        const headers = { ...call.headers, Authorization: credential };
        const { status } = await service.call(endpoint, { ...call, path: texts(path), headers });
        asked += 1;
        if (status !== 401) others.push(`${row}: ${status}`);
      }
    }

    expect(asked).toBeGreaterThan(400);
    expect(others).toEqual([]);
  });
});

const texts = (values: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
