import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { endpoint as createExport } from '../../../functions/optimization/exports/create-export.endpoint.ts';
import { endpoint as putVariables } from '../../../functions/projects/variables/put-variables.endpoint.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { readJobConfig } from '../../../shared/data/jobs/job-config.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

const commit = '0123456789abcdef0123456789abcdef01234567';
const token = 'hf_the_token';
const operatorsHub = 'http://hub.example.test';

/** A Hub of this machine: what it answers by the path, and what it was asked. */
let answers: Record<string, (response: ServerResponse) => void> = {};
let asked: { path: string; token: string | undefined }[] = [];
const hub = createServer((request: IncomingMessage, response) => {
  const path = URL.parse(request.url ?? '', 'http://hub')?.pathname ?? '';
  asked.push({ path, token: request.headers.authorization });
  const answer = answers[path] ?? ((one) => one.writeHead(404).end());
  answer(response);
});

let service: TestService;
let owner: TestUser;
let project_id: string;
beforeAll(async () => {
  hub.listen(0, '127.0.0.1');
  await once(hub, 'listening');
  const host = `127.0.0.1:${(hub.address() as AddressInfo).port}`;
  service = await testService({
    BATCH_ENDPOINT: 'http://127.0.0.1:9',
    LOG_LEVEL: 'error',
    HOOK_HOSTS: host,
    HF_ENDPOINT: operatorsHub,
  });
  owner = await service.user('developer');
  project_id = await projectWith(`http://${host}/`);
});
afterAll(() => {
  hub.closeAllConnections();
  hub.close();
});
beforeEach(() => {
  asked = [];
});

async function projectWith(endpoint: string): Promise<string> {
  const made = await newProject(service, owner);
  const variables = [
    { name: 'HF_TOKEN', value: token },
    { name: 'HF_ENDPOINT', value: endpoint, secret: false },
  ];
  const set = await service.call(putVariables, {
    ...json({ variables }),
    path: { project_id: made },
    as: owner,
  });
  expect(set.status, set.text).toBe(200);
  return made;
}

const ask = (source: object, project = project_id) =>
  service.call(createExport, { ...json({ project_id: project, source, name: `m${newId()}` }), as: owner });

const described =
  (sha: unknown) =>
  (response: ServerResponse): void =>
    void response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ sha }));
const refused =
  (status: number, code?: string) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, code === undefined ? {} : { 'X-Error-Code': code }).end();
const redirect =
  (location: string) =>
  (response: ServerResponse): void =>
    void response.writeHead(307, { Location: location }).end();

test("a revision is resolved to a commit at the request, once, and the job is told the commit and the operator's Hub", async () => {
  answers = { '/api/models/an-owner/a-model/revision/feature%2Fone': described(commit) };

  const made = await ask({ hf: 'an-owner/a-model', revision: 'feature/one' });

  expect(made.status, made.text).toBe(200);
  const source = { hf: 'an-owner/a-model', revision: 'feature/one', commit };
  expect(made.json.model_export.source).toEqual(source);
  expect(asked).toEqual([{ path: expect.any(String), token: `Bearer ${token}` }]);
  const { experiment_id } = made.json;
  const config = Buffer.from((await readJobConfig(service.records, experiment_id)) ?? '').toString();
  expect(JSON.parse(config).source).toEqual({ hf: 'an-owner/a-model', revision: commit, hub: operatorsHub });
  const record = JSON.stringify(await requireExperiment(service.records, project_id, experiment_id));
  expect(`${config}${record}${made.text}`).not.toContain(token);
});

test('a commit is not asked for, and a model that was renamed is followed on its own server', async () => {
  answers = {
    '/api/models/an-owner/old/revision/main': redirect('/api/models/an-owner/new/revision/main'),
    '/api/models/an-owner/new/revision/main': described(commit),
  };

  const exact = await ask({ hf: 'an-owner/a-model', revision: commit });
  const before = asked.length;
  const renamed = await ask({ hf: 'an-owner/old' });

  expect([exact.json.model_export.source.commit, before]).toEqual([commit, 0]);
  expect(renamed.json.model_export.source).toEqual({ hf: 'an-owner/old', revision: null, commit });
});

test.each([
  ['model', refused(401, 'RepoNotFound'), /model that the Hub does not have for the HF_TOKEN/],
  ['revision', refused(404, 'RevisionNotFound'), /revision that an-owner\/a-model does not have: main/],
])('a %s that the Hub does not have is refused before a job begins', async (_, answer, why) => {
  answers = { '/api/models/an-owner/a-model/revision/main': answer };

  const { status, json: problem } = await ask({ hf: 'an-owner/a-model' });

  expect([status, problem.errors[0].name]).toEqual([400, 'source']);
  expect(problem.errors[0].message).toMatch(why);
  expect(JSON.stringify(problem)).not.toContain(token);
});

test.each<[string, (response: ServerResponse) => void]>([
  ['limits requests', refused(429)],
  ['is away', refused(503)],
  ['is a proxy', refused(404)],
  ['names no commit', described('main')],
  ['says something else', (response) => void response.end('<html>')],
  ['never ends its answer', (response) => void response.writeHead(200).write('x'.repeat(2 ** 20))],
  ['breaks off', (response) => void response.destroy()],
  ['redirects in a circle', redirect('/api/models/an-owner/a-model/revision/main')],
  ['redirects into this network', redirect('http://169.254.169.254/latest/meta-data')],
])('a Hub that %s is asked by the job', async (_, answer) => {
  answers = { '/api/models/an-owner/a-model/revision/main': answer };

  const { status, json: made } = await ask({ hf: 'an-owner/a-model' });

  expect([status, made.model_export.source.commit]).toEqual([200, null]);
  expect(asked.length).toBeLessThan(4);
});

test.each(['http://169.254.169.254', 'http://localhost:1', 'file:///etc/passwd', 'no address'])(
  'the service asks no Hub at %s',
  async (endpoint) => {
    const elsewhere = await projectWith(endpoint);

    const { status, json: made } = await ask({ hf: 'an-owner/a-model' }, elsewhere);

    expect([status, made.model_export?.source.commit, asked]).toEqual([200, null, []]);
  },
);
