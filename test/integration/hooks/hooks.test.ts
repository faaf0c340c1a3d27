import { afterAll, beforeAll, expect, test } from 'vitest';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { hookEventsPartition, hooksPartition } from '../../../shared/data/hooks/hook.ts';
import { hookedProject, type Receiver, startReceiver } from './hooked-project.ts';

let receiver: Receiver;
let hooked: Awaited<ReturnType<typeof hookedProject>>;

beforeAll(async () => {
  receiver = await startReceiver();
  hooked = await hookedProject(receiver);
});
afterAll(() => receiver.close());

test('a hook shows its host alone, and its secret once', async () => {
  const made = await hooked.put({});
  const kept = await hooked.put({ url: undefined, events: ['sweep.ended'] });
  const all = await hooked.hooks();

  expect(made.json).toMatchObject({ name: 'team', host: receiver.host, format: 'standard', filter: null });
  expect(made.json.secret).toMatch(/^whsec_/);
  expect(kept.json).toMatchObject({ events: ['sweep.ended'], secret: null });
  expect(all).toHaveLength(1);
  for (const text of [JSON.stringify(all), made.text, kept.text])
    expect(text).not.toContain('its-secret-path');
});

test('URL and secret are stored encrypted', async () => {
  const { json } = await hooked.put({});
  const stored = await hooked.service.records.query({ pk: hooksPartition(hooked.project_id) });

  const text = JSON.stringify(stored.items, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  );
  expect(text).toContain(receiver.host);
  expect(text).not.toContain('its-secret-path');
  expect(text).not.toContain(json.secret ?? 'whsec_');
});

test('everything that is wrong with a hook is named at once', async () => {
  const answers = await Promise.all([
    hooked.put({ url: 'ftp://example.org/x', secret: 'whsec_c2hvcnQ=', events: [], filter: 'loss <' }),
    hooked.put({ url: 'http://example.org/x', format: 'slack', secret: `whsec_${'A'.repeat(32)}` }),
    hooked.put({ url: 'https://ada:pass@example.org/' }),
    hooked.put({ url: 'https://169.254.169.254/latest' }),
    hooked.put({ url: 'not a url' }),
    hooked.put({ url: undefined }, 'other'),
  ]);

  const faults = answers.map(({ status, json }) => [
    status,
    ...json.errors.map(({ name, message }: { name: string; message: string }) => `${name} ${message}`),
  ]);
  expect(faults).toEqual([
    [
      400,
      'secret must be whsec_ and 24 to 64 bytes in Base64',
      'events must have at least one event',
      expect.stringMatching(/^filter /),
    ],
    [400, expect.stringMatching(/^url must begin with https:\/\//), expect.stringMatching(/^secret is for/)],
    [400, expect.stringMatching(/^url must not contain a user name/)],
    [
      400,
      expect.stringMatching(/^url names 169\.254\.169\.254, which is not a public address; .* HOOK_HOSTS$/),
    ],
    [400, 'url is not a URL'],
    [400, 'url is required for a new hook'],
  ]);
});

test('a project has at most 20 hooks', async () => {
  const present = (await hooked.hooks()).length;
  const answers: number[] = [];
  for (let number = present; number < 22; number += 1)
    answers.push((await hooked.put({}, `hook-${number}`)).status);

  expect(answers.slice(-3)).toEqual([200, 409, 409]);
  expect(await hooked.hooks()).toHaveLength(20);
});

test('a deleted hook is gone, and no event is noted for it any more', async () => {
  const other = await hookedProject(receiver);
  await other.put({});
  const removed = await other.remove();
  const again = await other.remove();
  await other.begin('unheard');
  const noted = await other.service.records.query({ pk: 'NOTICES' });

  expect([removed.status, again.status]).toEqual([200, 404]);
  expect(noted.items).toEqual([]);
});

test('nothing of the hooks of a deleted project stays', async () => {
  const { service, owner, project_id, put } = await hookedProject(receiver);
  await put({});
  await service.call(deleteProject, { path: { project_id }, as: owner });
  const [purge] = (await service.records.query({ pk: 'PURGES' })).items;

  const partitions = JSON.stringify(purge);
  for (const pk of [hooksPartition(project_id), hookEventsPartition(project_id), `DELIVERIES#${project_id}`])
    expect(partitions).toContain(pk);
});
