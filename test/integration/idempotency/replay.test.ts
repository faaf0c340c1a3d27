import { describe, expect, test } from 'vitest';
import { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { good, keyedRequests } from './keyed-requests.ts';

describe('Idempotency-Key', () => {
  const here = keyedRequests();

  test('replays the first answer to the same request, however it is written', async () => {
    const first = await here.create();
    expect(first.status).toBe(200);
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    const reversed = new URLSearchParams(Object.entries(good).reverse()).toString();
    const again = await here.create({ query: reversed });
    expect(again.status).toBe(200);
    expect(again.text).toBe(first.text);
    expect(again.headers['etag']).toBe(first.headers['etag']);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    expect(await here.owned()).toEqual([first.json.project_id]);
  });

  test('the first answer stays the answer when the record is changed or deleted', async () => {
    const first = await here.create();
    const path = { project_id: first.json.project_id };
    await here.service.call(updateProject, {
      path,
      body: '{"project_name":"new"}',
      as: here.owner,
      headers: { 'Content-Type': 'application/json' },
    });
    expect((await here.create()).text).toBe(first.text);
    expect((await here.service.call(deleteProject, { path, as: here.owner })).status).toBe(200);
    expect((await here.create()).text).toBe(first.text);
    expect(await here.owned()).toEqual([]);
  });

  test('with other input is 422 and changes nothing', async () => {
    const first = await here.create();
    const other = await here.create({ query: { ...good, 'project-name': 'letters' } });
    expect(other.status).toBe(422);
    expect(other.json.type).toContain('idempotency-mismatch');
    expect(await here.owned()).toEqual([first.json.project_id]);
    expect((await here.create()).text).toBe(first.text);
  });

  test('stands for one caller only', async () => {
    const first = await here.create();
    const other = await here.service.user('developer');
    const theirs = await here.create({ as: other, query: { ...good, 'project-name': 'theirs' } });
    expect(theirs.status).toBe(200);
    expect(theirs.json.project_id).not.toBe(first.json.project_id);
  });

  test('is forgotten after 24 hours, also where the store has not removed it yet', async () => {
    const first = await here.create();
    const [claim] = await here.claims();
    const day = 24 * 60 * 60;
    expect(Math.abs(Number(claim!['ttl']) - Date.now() / 1000 - day)).toBeLessThan(60);
    await here.age({ ttl: Math.floor(Date.now() / 1000) });
    const next = await here.create({ query: { ...good, 'project-name': 'next day' } });
    expect(next.status).toBe(200);
    expect(await here.owned()).toEqual([next.json.project_id, first.json.project_id]);
  });

  test.each([
    ['blank', ''],
    ['too long', 'k'.repeat(256)],
    ['of other letters', 'schlüssel'],
    ['with a control character', 'a\tb'],
  ])('a key that is %s is 400 and names the header', async (_, bad) => {
    const answer = await here.create({ headers: { 'Idempotency-Key': bad } });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([
      {
        in: 'header',
        name: 'Idempotency-Key',
        message: 'must be given once, as 1 to 255 printable ASCII characters',
      },
    ]);
    expect(await here.owned()).toEqual([]);
  });

  test('keys of any printable characters are told apart and not kept', async () => {
    const keys = ['~'.repeat(255), '~'.repeat(254), 'a', 'A', '#', '../../x', '{"$ne":1}'];
    const made = await Promise.all(keys.map((one) => here.create({ headers: { 'Idempotency-Key': one } })));
    expect(new Set(made.map(({ json }) => json.project_id)).size).toBe(keys.length);
    expect(JSON.stringify(await here.claims())).not.toContain('../../x');
  });

  test('is refused for signing in, and means nothing where nothing is created', async () => {
    const signIn = await here.service.call(createToken, {
      headers: { 'Idempotency-Key': here.key, 'Content-Type': 'application/json' },
      body: '{"grant_type":"password","username":"a","password":"b"}',
    });
    expect(signIn.status).toBe(400);
    expect(signIn.json.errors).toEqual([expect.objectContaining({ in: 'header', name: 'Idempotency-Key' })]);
    const { json } = await here.create();
    for (const project_name of ['one', 'two']) {
      const changed = await here.service.call(updateProject, {
        path: { project_id: json.project_id },
        headers: { 'Idempotency-Key': here.key, 'Content-Type': 'application/json' },
        body: JSON.stringify({ project_name }),
        as: here.owner,
      });
      expect(changed.json.project_name).toBe(project_name);
    }
  });

  test('a request that was refused before it began leaves the key free', async () => {
    expect((await here.create({ query: { ...good, 'project-name': '' } })).status).toBe(400);
    expect((await here.create({ as: await here.service.user('viewer') })).status).toBe(403);
    expect((await here.create()).status).toBe(200);
  });

  test('50 at the same moment make one record; all others are told to wait or get its answer', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => here.create()));
    const [project_id, ...more] = await here.owned();
    expect(more).toEqual([]);
    const done = answers.filter(({ status }) => status === 200);
    expect(done.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
    for (const { json } of done) expect(json.project_id).toBe(project_id);
    for (const waiting of answers.filter(({ status }) => status !== 200)) {
      expect(waiting.status).toBe(409);
      expect(Number(waiting.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect((await here.create()).json.project_id).toBe(project_id);
  });
});
