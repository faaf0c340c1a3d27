import { afterEach, describe, expect, test } from 'vitest';
import type { AdmissionLimits } from '../../../infra/local/gateway/admission.ts';
import {
  type RunningGateway,
  type ServedEndpoint,
  startGateway,
} from '../../../infra/local/gateway/gateway-server.ts';
import { securityHeaders } from '../../../shared/http/answer/security-headers.ts';
import type { Handler } from '../../../shared/http/pipeline/lambda.ts';
import { served } from './served.ts';

const ok = { statusCode: 200, body: '' };

describe('what the gateway takes on', () => {
  let gateway: RunningGateway;
  let free: () => void;

  async function start(limits: Partial<AdmissionLimits>): Promise<void> {
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    const endpoints = [
      served('GET', '/quick', () => ok),
      served('GET', '/held', () => held.then(() => ok)),
      served('POST', '/sent', () => ok),
    ];
    gateway = await startGateway({ endpoints, port: 0, limits });
  }
  afterEach(async () => {
    free();
    await gateway.close();
  });

  const get = (path: string): Promise<Response> => fetch(`${gateway.url}${path}`);

  async function expectShed(answer: Response, status: number, retryAfter: RegExp): Promise<void> {
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.get('retry-after')).toMatch(retryAfter);
    expect(await answer.json()).toMatchObject({ status, detail: expect.stringContaining('again') });
    for (const [name, value] of Object.entries(securityHeaders)) expect(answer.headers.get(name)).toBe(value);
  }

  test('more requests than the bucket holds are 429, whatever they ask for', async () => {
    await start({ perSecond: 0.001, burst: 3 });
    for (const path of ['/quick', '/nowhere', '/quick']) expect((await get(path)).status).not.toBe(429);
    await expectShed(await get('/quick'), 429, /^9\d\d$|^1000$/);
    await expectShed(await get('/nowhere'), 429, /^\d+$/);
  });

  test('an operation that anybody may call has a throttle of its own', async () => {
    const probe = served('GET', '/docs', () => ok);
    const throttle = { perSecond: 0.001, burst: 2 };
    const docs = { ...probe, endpoint: { ...probe.endpoint, throttle } };
    gateway = await startGateway({ endpoints: [docs, served('GET', '/quick', () => ok)], port: 0 });
    free = () => {};
    for (const _ of [1, 2]) expect((await get('/docs')).status).toBe(200);
    await expectShed(await get('/docs'), 429, /^9\d\d$|^1000$/);
    expect((await get('/quick')).status).toBe(200);
  });

  test('more requests at once than there are places are 503, until one is free', async () => {
    await start({ inFlight: 2, waiting: 0 });
    const working = [get('/held'), get('/held')];
    await expect.poll(async () => (await get('/quick')).status).toBe(503);
    await expectShed(await get('/quick'), 503, /^1$/);
    const body = new Uint8Array(100_000);
    await expectShed(await fetch(`${gateway.url}/sent`, { method: 'POST', body }), 503, /^1$/);
    free();
    for (const answer of await Promise.all(working)) expect(answer.status).toBe(200);
    expect((await get('/quick')).status).toBe(200);
  });

  test('some wait for a place, and get it', async () => {
    await start({ inFlight: 1, waiting: 2 });
    const all = [get('/held'), get('/held'), get('/held')];
    await expect.poll(async () => (await get('/quick')).status).toBe(503);
    free();
    for (const answer of await Promise.all(all)) expect(answer.status).toBe(200);
    expect((await get('/quick')).status).toBe(200);
  });
});

describe('a request that waits for news', () => {
  /** An endpoint that waits until its client is gone or the service ends, and counts its waits. */
  function live(): { loaded: ServedEndpoint; waits: { begun: number; ended: number } } {
    const waits = { begun: 0, ended: 0 };
    const handler: Handler = async (_event, { park }) => {
      const hasWaited = await park?.(async (signal) => {
        waits.begun += 1;
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        waits.ended += 1;
      });
      return { statusCode: 200, body: String(hasWaited) };
    };
    return { loaded: { ...served('GET', '/live', () => ok), handler }, waits };
  }

  test('holds no place, and ends with its client', async () => {
    const { loaded, waits } = live();
    const limits = { inFlight: 1, waiting: 0 };
    const gateway = await startGateway({
      endpoints: [loaded, served('GET', '/quick', () => ok)],
      port: 0,
      limits,
    });
    const leaving = new AbortController();
    const followers = Promise.allSettled(
      [1, 2, 3].map(() => fetch(`${gateway.url}/live`, { signal: leaving.signal })),
    );
    await expect.poll(() => waits.begun).toBe(3);

    const other = await fetch(`${gateway.url}/quick`);
    leaving.abort();

    expect(other.status).toBe(200);
    await expect.poll(() => waits.ended).toBe(3);
    expect((await followers).map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
    await gateway.close();
  });

  test('is answered when the service ends, and at once where its account has many that wait', async () => {
    const { loaded, waits } = live();
    const gateway = await startGateway({ endpoints: [loaded], port: 0, limits: { parked: 2 } });
    const follow = async () => (await fetch(`${gateway.url}/live`)).text();
    const followers = [follow(), follow()];
    await expect.poll(() => waits.begun).toBe(2);

    const third = await follow();
    await gateway.close();

    expect([third, ...(await Promise.all(followers))]).toEqual(['false', 'true', 'true']);
  });
});
