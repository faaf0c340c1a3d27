import { describe, expect, test } from 'vitest';
import { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { good, keyedRequests } from './keyed-requests.ts';

type Handle = (input: never, context: never) => Promise<unknown>;
const handle = createProject.handle as Handle;

/** The endpoint with a behaviour that fails, hangs or waits somewhere. */
const creatingWith = (behaviour: Handle): AnyEndpoint => ({ ...createProject, handle: behaviour });

const forever = () => new Promise<never>(() => undefined);

describe('when the process of a request with an Idempotency-Key', () => {
  const here = keyedRequests();

  /** A request whose process does so much and then nothing more: waits until it has. */
  async function dieOn(act: Handle): Promise<void> {
    const { promise: acted, resolve } = Promise.withResolvers<void>();
    const dying = creatingWith(async (input, context) => {
      await act(input, context);
      resolve();
      return forever();
    });
    void here.create({}, dying);
    await acted;
  }

  test('dies before it acts, the key is in progress until its lease ends; then the request is done', async () => {
    await dieOn(async () => {});
    const waiting = await here.create();
    expect(waiting.status).toBe(409);
    expect(Number(waiting.headers['retry-after'])).toBeLessThanOrEqual(35);
    expect(await here.owned()).toEqual([]);
    await here.age({ lease_until: Date.now() });
    const retried = await here.create();
    expect(retried.status).toBe(200);
    expect(await here.owned()).toEqual([retried.json.project_id]);
    expect((await here.create()).text).toBe(retried.text);
  });

  test('dies and the clock is set back an hour, its lease ends no later', async () => {
    await dieOn(async () => {});
    await here.age({ lease_until: Date.now() + 3_600_000 });
    expect((await here.create()).status).toBe(200);
  });

  test('dies between act and answer, the retry answers the record and makes no second', async () => {
    await dieOn(handle);
    const [project_id] = await here.owned();
    expect((await here.create()).status).toBe(409);
    await here.age({ lease_until: Date.now() });
    const answers = await Promise.all(Array.from({ length: 10 }, () => here.create()));
    const done = answers.filter(({ status }) => status === 200);
    expect(done.length).toBeGreaterThan(0);
    for (const { json, headers } of done) {
      expect(json.project_id).toBe(project_id);
      expect(headers['etag']).toMatch(/^"1-/);
      expect(headers['idempotency-replayed']).toBe('true');
    }
    expect(answers.filter(({ status }) => status !== 200).every(({ status }) => status === 409)).toBe(true);
    expect(await here.owned()).toEqual([project_id]);
  });

  test('dies between act and answer and the record is deleted, the retry does not make it again', async () => {
    const dying = creatingWith(async (input, context) => {
      await handle(input, context);
      throw new Error('died');
    });
    expect((await here.create({}, dying)).status).toBe(500);
    const [project_id] = await here.owned();
    await here.service.call(deleteProject, { path: { project_id: project_id! }, as: here.owner });
    expect((await here.create()).status).toBe(404);
    expect((await here.create()).status).toBe(404);
    expect(await here.owned()).toEqual([]);
  });

  test('fails before it acts, the key is free at once', async () => {
    const failing = creatingWith(async () => {
      throw new Error('out of order');
    });
    expect((await here.create({}, failing)).status).toBe(500);
    expect(await here.claims()).toEqual([]);
    const other = await here.create({ query: { ...good, 'project-name': 'another' } });
    expect(other.status).toBe(200);
  });

  test('fails after it has acted, the next request gets the record at once', async () => {
    const failing = creatingWith(async (input, context) => {
      await handle(input, context);
      throw new Error('out of order');
    });
    expect((await here.create({}, failing)).status).toBe(500);
    const retried = await here.create();
    expect(retried.status).toBe(200);
    expect(await here.owned()).toEqual([retried.json.project_id]);
  });

  /** A request that is put to sleep before it acts. */
  async function sleeper() {
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
    const answer = here.create({}, slow);
    await sleeping;
    await here.age({ lease_until: Date.now() });
    return {
      awaken: () => {
        wake();
        return answer;
      },
    };
  }

  test('was only slow, it makes nothing once another has taken over', async () => {
    const { awaken } = await sleeper();
    const retried = await here.create();
    expect(retried.status).toBe(200);
    expect((await awaken()).status).toBe(409);
    expect(await here.owned()).toEqual([retried.json.project_id]);
    expect((await here.create()).text).toBe(retried.text);
  });

  test('was only slow, it makes nothing once another has given the key up', async () => {
    const { awaken } = await sleeper();
    const failing = creatingWith(async () => {
      throw new Error('out of order');
    });
    expect((await here.create({}, failing)).status).toBe(500);
    expect((await awaken()).status).toBe(409);
    expect(await here.owned()).toEqual([]);
    expect(await here.claims()).toEqual([]);
    expect((await here.create()).status).toBe(200);
  });
});
