import { afterEach, describe, expect, test } from 'vitest';
import type { AdmissionLimits } from '../../../infra/local/gateway/admission.ts';
import { type RunningGateway, startGateway } from '../../../infra/local/gateway/gateway-server.ts';
import { securityHeaders } from '../../../shared/http/answer/security-headers.ts';
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
