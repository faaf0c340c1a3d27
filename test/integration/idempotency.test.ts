import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { endpoint as createToken } from '../../functions/auth/create-token.endpoint.ts';
import { endpoint as createProject } from '../../functions/projects/create-project.endpoint.ts';
import { endpoint as deleteProject } from '../../functions/projects/delete-project.endpoint.ts';
import { endpoint as listProjects } from '../../functions/projects/list-projects.endpoint.ts';
import { endpoint as requestUpload } from '../../functions/projects/request-source-upload.endpoint.ts';
import { endpoint as updateProject } from '../../functions/projects/update-project.endpoint.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { defineEndpoint, fields } from '../../shared/endpoint/definition.ts';
import type { AnyEndpoint } from '../../shared/endpoint/exchange.ts';
import { type Answer, type Call, type TestService, type TestUser, testService } from '../support/service.ts';

const good = {
  'project-name': 'digits',
  'project-description': 'Reads digits',
  'project-type': 'vision',
  'project-task': 'classification',
};

type Handle = (input: never, context: never) => Promise<unknown>;
const handle = createProject.handle as Handle;

/** The endpoint with a behaviour that fails, hangs or waits somewhere. */
const creatingWith = (behaviour: Handle): AnyEndpoint => ({ ...createProject, handle: behaviour });

const forever = () => new Promise<never>(() => undefined);

describe('Idempotency-Key', () => {
  let service: TestService;
  let owner: TestUser;
  let count = 0;
  let key = '';

  beforeAll(async () => {
    service = await testService({ LOG_LEVEL: 'error' });
  });

  beforeEach(async () => {
    owner = await service.user('developer');
    count += 1;
    key = `key ${count}`;
  });

  const create = (call: Call = {}, endpoint: AnyEndpoint = createProject): Promise<Answer> =>
    service.call(endpoint, {
      query: good,
      as: owner,
      ...call,
      headers: { 'Idempotency-Key': key, ...call.headers },
    });

  const claims = async (user = owner) =>
    (await service.records.query({ pk: `IDEMPOTENCY#${user.user.user_id}` })).items;

  /** Changes the one claim of the caller, as time does. */
  async function age(set: Record<string, number>): Promise<void> {
    const [claim] = await claims();
    await service.records.write({ update: claim!, change: { set } });
  }

  const owned = async (user = owner): Promise<string[]> => {
    const listed = await service.call(listProjects, { as: user });
    return listed.json
      .filter((one: { owner_id: string }) => one.owner_id === user.user.user_id)
      .map((one: { project_id: string }) => one.project_id);
  };

  test('replays the first answer to the same request, however it is written', async () => {
    const first = await create();
    expect(first.status).toBe(200);
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    const reversed = new URLSearchParams(Object.entries(good).reverse()).toString();
    const again = await create({ query: reversed });
    expect(again.status).toBe(200);
    expect(again.text).toBe(first.text);
    expect(again.headers['etag']).toBe(first.headers['etag']);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    expect(await owned()).toEqual([first.json.project_id]);
  });

  test('the first answer stays the answer when the record is changed or deleted', async () => {
    const first = await create();
    const path = { project_id: first.json.project_id };
    await service.call(updateProject, {
      path,
      body: '{"project_name":"new"}',
      as: owner,
      headers: { 'Content-Type': 'application/json' },
    });
    expect((await create()).text).toBe(first.text);
    expect((await service.call(deleteProject, { path, as: owner })).status).toBe(200);
    expect((await create()).text).toBe(first.text);
    expect(await owned()).toEqual([]);
  });

  test('with other input is 422 and changes nothing', async () => {
    const first = await create();
    const other = await create({ query: { ...good, 'project-name': 'letters' } });
    expect(other.status).toBe(422);
    expect(other.json.type).toContain('idempotency-mismatch');
    expect(await owned()).toEqual([first.json.project_id]);
    expect((await create()).text).toBe(first.text);
  });

  test('stands for one caller only', async () => {
    const first = await create();
    const other = await service.user('developer');
    const theirs = await create({ as: other, query: { ...good, 'project-name': 'theirs' } });
    expect(theirs.status).toBe(200);
    expect(theirs.json.project_id).not.toBe(first.json.project_id);
  });

  test('is forgotten after 24 hours, also where the store has not removed it yet', async () => {
    const first = await create();
    const [claim] = await claims();
    const day = 24 * 60 * 60;
    expect(Math.abs(Number(claim!['ttl']) - Date.now() / 1000 - day)).toBeLessThan(60);
    await age({ ttl: Math.floor(Date.now() / 1000) });
    const next = await create({ query: { ...good, 'project-name': 'next day' } });
    expect(next.status).toBe(200);
    expect(await owned()).toEqual([next.json.project_id, first.json.project_id]);
  });

  test.each([
    ['blank', ''],
    ['too long', 'k'.repeat(256)],
    ['of other letters', 'schlüssel'],
    ['with a control character', 'a\tb'],
  ])('a key that is %s is 400 and names the header', async (_, bad) => {
    const answer = await create({ headers: { 'Idempotency-Key': bad } });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([
      {
        in: 'header',
        name: 'Idempotency-Key',
        message: 'must be given once, as 1 to 255 printable ASCII characters',
      },
    ]);
    expect(await owned()).toEqual([]);
  });

  test('keys of any printable characters are told apart and not kept', async () => {
    const keys = ['~'.repeat(255), '~'.repeat(254), 'a', 'A', '#', '../../x', '{"$ne":1}'];
    const made = await Promise.all(keys.map((one) => create({ headers: { 'Idempotency-Key': one } })));
    expect(new Set(made.map(({ json }) => json.project_id)).size).toBe(keys.length);
    expect(JSON.stringify(await claims())).not.toContain('../../x');
  });

  test('is refused for signing in, and means nothing where nothing is created', async () => {
    const signIn = await service.call(createToken, {
      headers: { 'Idempotency-Key': key, 'Content-Type': 'application/json' },
      body: '{"grant_type":"password","username":"a","password":"b"}',
    });
    expect(signIn.status).toBe(400);
    expect(signIn.json.errors).toEqual([expect.objectContaining({ in: 'header', name: 'Idempotency-Key' })]);
    const { json } = await create();
    for (const project_name of ['one', 'two']) {
      const changed = await service.call(updateProject, {
        path: { project_id: json.project_id },
        headers: { 'Idempotency-Key': key, 'Content-Type': 'application/json' },
        body: JSON.stringify({ project_name }),
        as: owner,
      });
      expect(changed.json.project_name).toBe(project_name);
    }
  });

  test('a request that was refused before it began leaves the key free', async () => {
    expect((await create({ query: { ...good, 'project-name': '' } })).status).toBe(400);
    expect((await create({ as: await service.user('viewer') })).status).toBe(403);
    expect((await create()).status).toBe(200);
  });

  test('50 at the same moment make one record; all others are told to wait or get its answer', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => create()));
    const [project_id, ...more] = await owned();
    expect(more).toEqual([]);
    const done = answers.filter(({ status }) => status === 200);
    expect(done.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
    for (const { json } of done) expect(json.project_id).toBe(project_id);
    for (const waiting of answers.filter(({ status }) => status !== 200)) {
      expect(waiting.status).toBe(409);
      expect(Number(waiting.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect((await create()).json.project_id).toBe(project_id);
  });

  describe('when the process', () => {
    test('dies before it acts, the key is in progress until its lease ends; then the request is done', async () => {
      let began = () => {};
      const beginning = new Promise<void>((resolve) => {
        began = resolve;
      });
      const dying = creatingWith(() => {
        began();
        return forever();
      });
      void create({}, dying);
      await beginning;
      const waiting = await create();
      expect(waiting.status).toBe(409);
      expect(Number(waiting.headers['retry-after'])).toBeLessThanOrEqual(35);
      expect(await owned()).toEqual([]);
      await age({ lease_until: Date.now() });
      const retried = await create();
      expect(retried.status).toBe(200);
      expect(await owned()).toEqual([retried.json.project_id]);
      expect((await create()).text).toBe(retried.text);
    });

    test('dies between act and answer, the retry answers the record and makes no second', async () => {
      let acted = () => {};
      const acting = new Promise<void>((resolve) => {
        acted = resolve;
      });
      const dying = creatingWith(async (input, context) => {
        await handle(input, context);
        acted();
        return forever();
      });
      void create({}, dying);
      await acting;
      const [project_id] = await owned();
      expect((await create()).status).toBe(409);
      await age({ lease_until: Date.now() });
      const answers = await Promise.all(Array.from({ length: 10 }, () => create()));
      const done = answers.filter(({ status }) => status === 200);
      expect(done.length).toBeGreaterThan(0);
      for (const { json, headers } of done) {
        expect(json.project_id).toBe(project_id);
        expect(headers['etag']).toMatch(/^"1-/);
        expect(headers['idempotency-replayed']).toBe('true');
      }
      expect(answers.filter(({ status }) => status !== 200).every(({ status }) => status === 409)).toBe(true);
      expect(await owned()).toEqual([project_id]);
    });

    test('dies between act and answer and the record is deleted, the retry does not make it again', async () => {
      const dying = creatingWith(async (input, context) => {
        await handle(input, context);
        throw new Error('died');
      });
      expect((await create({}, dying)).status).toBe(500);
      const [project_id] = await owned();
      await service.call(deleteProject, { path: { project_id: project_id! }, as: owner });
      expect((await create()).status).toBe(404);
      expect((await create()).status).toBe(404);
      expect(await owned()).toEqual([]);
    });

    test('fails before it acts, the key is free at once', async () => {
      const failing = creatingWith(async () => {
        throw new Error('out of order');
      });
      expect((await create({}, failing)).status).toBe(500);
      expect(await claims()).toEqual([]);
      const other = await create({ query: { ...good, 'project-name': 'another' } });
      expect(other.status).toBe(200);
    });

    test('fails after it has acted, the next request gets the record at once', async () => {
      const failing = creatingWith(async (input, context) => {
        await handle(input, context);
        throw new Error('out of order');
      });
      expect((await create({}, failing)).status).toBe(500);
      const retried = await create();
      expect(retried.status).toBe(200);
      expect(await owned()).toEqual([retried.json.project_id]);
    });

    test('was only slow, it makes nothing once another has taken over', async () => {
      let wake = () => {};
      let asleep = () => {};
      const sleeping = new Promise<void>((resolve) => {
        asleep = resolve;
      });
      const slow = creatingWith(async (input, context) => {
        asleep();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        return handle(input, context);
      });
      const late = create({}, slow);
      await sleeping;
      await age({ lease_until: Date.now() });
      const retried = await create();
      expect(retried.status).toBe(200);
      wake();
      expect((await late).status).toBe(409);
      expect(await owned()).toEqual([retried.json.project_id]);
      expect((await create()).text).toBe(retried.text);
    });
  });

  test('a presigned URL is signed anew, and the key still stands for one request', async () => {
    const { json } = await create();
    const ask = (sha256: string) =>
      service.call(requestUpload, {
        path: { project_id: json.project_id },
        query: { sha256, size: '3' },
        headers: { 'Idempotency-Key': `${key} upload` },
        as: owner,
      });
    const first = await ask('a'.repeat(64));
    const again = await ask('a'.repeat(64));
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.json.upload.url).toContain('X-Amz-Signature');
    expect((await ask('b'.repeat(64))).status).toBe(422);
    expect(JSON.stringify(await claims())).not.toContain('X-Amz');
  });

  test('no password is kept, nor anything that the answer does not show', async () => {
    const register = defineEndpoint({
      name: 'register',
      method: 'POST',
      path: '/register',
      summary: 'Makes an account',
      allow: 'anyone',
      needs: { records: writeRecords },
      input: { body: fields(z.strictObject({ username: z.string(), password: z.string() })) },
      output: { 201: z.object({ username: z.string() }) },
      idempotent: { kind: 'creates', table: 'records', answerMade: async (username) => ({ username }) },
      async handle({ body: { username, password } }, { records, made }) {
        const item = { pk: 'TEST', sk: username, record_type: 'test' };
        await records.write({ put: item, if: { exists: false } }, ...made(username));
        return { username, hash: `hash of ${password}` };
      },
    });
    const send = (username: string, password: string, sourceIp = '192.0.2.1') =>
      service.call(register, {
        headers: { 'Idempotency-Key': key, 'Content-Type': 'application/json' },
        body: JSON.stringify({ password, username }),
        sourceIp,
      });
    expect((await send('ada', 'correct horse')).status).toBe(201);
    const again = await send('ada', 'battery staple');
    expect(again.status).toBe(201);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect((await send('eve', 'correct horse')).status).toBe(422);
    expect((await send('eve', 'correct horse', '192.0.2.2')).status).toBe(201);
    const { createHash } = await import('node:crypto');
    const address = createHash('sha256').update('192.0.2.1').digest('hex');
    const kept = (await service.records.query({ pk: `IDEMPOTENCY#ADDRESS-${address}` })).items;
    expect(kept).toHaveLength(1);
    expect(JSON.stringify(kept)).not.toMatch(/correct|battery|hash of|192\.0/);
    expect(kept[0]!['answer']).toBe('{"value":{"username":"ada"},"headers":{}}');
  });

  test('an answer of another version of the service gives way to the record', async () => {
    const first = await create();
    const [claim] = await claims();
    await service.records.write({
      update: claim!,
      change: { set: { answer: JSON.stringify({ value: { name: 'an older shape' }, headers: {} }) } },
    });
    const again = await create();
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotency-replayed']).toBe('true');
  });
});
