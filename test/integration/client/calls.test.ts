import { describe, expect, test } from 'vitest';
import type { endpoint as createNamedToken } from '../../../functions/auth/create-named-token.endpoint.ts';
import type { endpoint as readLive } from '../../../functions/experiments/live/read-live-experiment.endpoint.ts';
import type { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import type { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import type { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { Client } from '../../../shared/client/client.ts';
import { followLive } from '../../../shared/client/follow-live.ts';
import { ProblemError } from '../../../shared/client/problem-error.ts';
import { UnexpectedAnswerError } from '../../../shared/client/unexpected-answer-error.ts';
import { UnreachableError } from '../../../shared/client/unreachable-error.ts';
import { json, lost, served } from './served.ts';

const query = {
  'project-name': 'Hello & more',
  'project-description': 'A project',
  'project-type': 'vision',
  'project-task': 'classification',
};
const busy = json({ detail: 'later' }, 503, { 'Retry-After': '0' });

describe('a call', () => {
  test('sends what the definition says, with the token', async () => {
    const { url, received } = await served(json({ project_id: 'a' }));
    const client = new Client({ url: `${url}/`, token: 'secret' });
    expect(await client.call<typeof createProject>('POST /projects/', { query })).toEqual({
      project_id: 'a',
    });
    expect(received).toMatchObject([{ method: 'POST', headers: { authorization: 'Bearer secret' } }]);
    expect(Object.fromEntries(new URL(received[0]?.url ?? '', url).searchParams)).toEqual(query);
  });

  test('that creates something is repeated with the same key when the connection is lost', async () => {
    const { url, received } = await served(lost, busy, json({ project_id: 'a' }));
    await new Client({ url }).call<typeof createProject>('POST /projects/', { query });
    const keys = received.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), keys[0], keys[0]]);
  });

  test('that creates a token is not repeated, unless it was not begun', async () => {
    const { url, received } = await served(json({}, 429, { 'Retry-After': '0' }), lost, json({}));
    const body = { name: 'a' };
    const call = new Client({ url }).call<typeof createNamedToken>('POST /auth/tokens', { body });
    await expect(call).rejects.toThrow(UnreachableError);
    expect(received.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined, undefined]);
  });

  test('waits as long as Retry-After says, and gives up where that is too long', async () => {
    const { url, received } = await served(
      json({}, 429, { 'Retry-After': '1' }),
      json({}, 429, { 'Retry-After': '900' }),
    );
    const begun = performance.now();
    const call = new Client({ url }).call<typeof listProjects>('GET /projects/');
    await expect(call).rejects.toMatchObject({ status: 429 });
    expect(performance.now() - begun).toBeGreaterThan(990);
    expect(received).toHaveLength(2);
  });

  test('reports the problem of a refusal', async () => {
    const errors = [{ in: 'query', name: 'project-name', message: 'is blank' }];
    const document = { type: '/docs#problem-bad-request', detail: 'Refused.', instance: 'request-1', errors };
    const { url } = await served(json(document, 400));
    const error = await new Client({ url })
      .call<typeof listProjects>('GET /projects/')
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({
      kind: 'bad-request',
      message: 'Refused.',
      requestId: 'request-1',
      faults: errors,
    });
  });

  test.each([
    {
      what: 'a page of something else',
      turn: (response: { end(text: string): void }) => response.end('<html>'),
    },
    { what: 'a redirect', turn: json({}, 301, { Location: 'https://example.com/' }) },
  ])('refuses $what', async ({ turn }) => {
    const { url } = await served(turn);
    const call = new Client({ url }).call<typeof listProjects>('GET /projects/');
    await expect(call).rejects.toThrow(UnexpectedAnswerError);
  });

  test('keeps parameters of the path in their place', async () => {
    const { url, received } = await served(json({}));
    const client = new Client({ url });
    const path = (project_id: string) => ({ path: { project_id } });
    await client.call<typeof readProject>('GET /projects/{project_id}', path('a/b?c'));
    expect(received[0]?.url).toBe('/projects/a%2Fb%3Fc');
    await expect(client.call<typeof readProject>('GET /projects/{project_id}', path('..'))).rejects.toThrow(
      RangeError,
    );
  });

  test('ends when it is aborted while it waits', async () => {
    const { url } = await served(json({}, 503, { 'Retry-After': '30' }));
    const aborting = new AbortController();
    const call = new Client({ url }).call<typeof listProjects>('GET /projects/', { signal: aborting.signal });
    setTimeout(() => aborting.abort(new Error('enough')), 50);
    await expect(call).rejects.toThrow('enough');
  });
});

describe('a list', () => {
  test('is read page after page', async () => {
    const { url, received } = await served(
      json([{ project_id: '1' }], 200, { Link: '<?limit=1&cursor=x%2Fy>; rel="next"' }),
      busy,
      json([{ project_id: '2' }]),
    );
    const ids: string[] = [];
    const rows = new Client({ url }).rows<typeof listProjects>('GET /projects/', { query: { limit: 1 } });
    for await (const { project_id } of rows) ids.push(project_id);
    expect(ids).toEqual(['1', '2']);
    expect(received.at(-1)?.url).toBe('/projects/?limit=1&cursor=x%2Fy');
  });
});

test('live answers are followed over an outage, each from where the one before ended', async () => {
  const live = (after: string | null, message?: string) =>
    json({ after, retry_after: 0, log: message === undefined ? [] : [message] });
  const { url, received } = await served(live('1', 'a'), lost, lost, live('2'), live(null, 'b'));
  const client = new Client({ url, retries: { attempts: 1, seconds: 0 } });
  const connection: boolean[] = [];
  const path = { project_id: 'p', experiment_id: 'e' };
  const route = 'GET /projects/{project_id}/experiments/{experiment_id}/live';
  const ask = (after: string | undefined) =>
    client.call<typeof readLive>(route, { path, query: after === undefined ? {} : { after } });

  const lines: unknown[] = [];
  for await (const { log } of followLive(ask, {
    awayMilliseconds: 1,
    onConnection: (isLost) => connection.push(isLost),
  }))
    lines.push(...log);

  expect(lines).toEqual(['a', 'b']);
  expect(connection).toEqual([true, false]);
  expect(received.map(({ url: asked }) => /after=(.*)/.exec(asked ?? '')?.[1])).toEqual([
    undefined,
    '1',
    '1',
    '1',
    '2',
  ]);
});
