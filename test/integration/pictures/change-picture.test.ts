import { ulid } from 'ulid';
import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as putPicture } from '../../../functions/users/pictures/put-profile-picture.endpoint.ts';
import { pictureOwner, picturesPrefix } from '../../../shared/data/accounts/picture.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import type { TestUser } from '../../support/service.ts';
import {
  blue,
  colourAt,
  green,
  type PictureService,
  pictureService,
  plain,
  red,
  yellow,
} from './picture-service.ts';

const files = ['128.png', '128.webp', '512.png', '512.webp'];
const namesOf = (keys: readonly string[]) => keys.map((key) => key.split('/')[1]);

describe('changes of a picture', () => {
  let service: PictureService;
  let ada: TestUser;

  beforeAll(async () => {
    service = await pictureService();
    ada = await service.user('developer');
  });

  const colourNow = async () => colourAt((await service.picture(ada)).bytes, 0.5, 0.5);

  /** What the endpoint does when one of its services answers otherwise. */
  async function handle(
    user: TestUser,
    replaced: { accounts?: object; objects?: object },
    log: string[] = [],
  ) {
    const context = {
      accounts: { ...service.accounts, ...replaced.accounts },
      objects: { ...service.objects, ...replaced.objects },
      caller: user.user,
      newId: () => ulid().toLowerCase(),
      now: () => new Date(),
      header: () => undefined,
      expectedVersion: undefined,
      log: { warn: (code: string) => log.push(code) },
    };
    const body = { mediaType: 'image/png', bytes: await plain(yellow).png().toBuffer() };
    const input = { path: { username: user.user.username }, query: {}, body };
    return putPicture.handle(input as never, context as never);
  }

  test('store four objects under keys of ids, and remove those of the picture before', async () => {
    await service.put(ada, await plain(red).png().toBuffer(), 'image/png');
    const first = await service.stored(ada);
    expect(namesOf(first)).toEqual(files);
    expect(first[0]).toMatch(/^[0-9a-hjkmnp-tv-z]{26}\/128\.png$/);
    await service.put(ada, await plain(blue).png().toBuffer(), 'image/png');
    const second = await service.stored(ada);
    expect(namesOf(second)).toEqual(files);
    expect(second).not.toEqual(first);
    expect(await colourNow()).toBe('blue');
  });

  test('give the picture a new ETag each, and honour If-Match', async () => {
    const before = (await service.picture(ada)).headers['etag']!;
    const small = (await service.thumbnail(ada, { Accept: 'image/png' })).headers['etag']!;
    const sent = await plain(green).png().toBuffer();
    expect((await service.put(ada, sent, 'image/png', { 'If-Match': small })).status).toBe(200);
    const after = await service.picture(ada, { 'If-None-Match': before });
    expect(after.status).toBe(200);
    expect((await service.picture(ada, { 'If-None-Match': after.headers['etag']! })).status).toBe(304);
    for (const stale of [
      await service.put(ada, sent, 'image/png', { 'If-Match': before }),
      await service.put(ada, sent, 'image/png', { 'If-None-Match': '*' }),
      await service.remove(ada, { 'If-Match': before }),
    ]) {
      expect(stale.status).toBe(412);
    }
    expect(namesOf(await service.stored(ada))).toEqual(files);
    expect(await colourNow()).toBe('green');
  });

  test('at the same moment all succeed, and the last one stays, alone', async () => {
    const colours = [red, green, blue, yellow, red, blue];
    const sent = await Promise.all(colours.map((colour) => plain(colour).png().toBuffer()));
    const reading = Promise.all(Array.from({ length: 20 }, () => service.picture(ada)));
    const answers = await Promise.all(sent.map((bytes) => service.put(ada, bytes, 'image/png')));
    expect(answers.map(({ status }) => status)).toEqual(colours.map(() => 200));
    const versions = answers.map(({ json }) => json.version);
    expect(new Set(versions).size).toBe(6);
    const winner = colours[versions.indexOf(Math.max(...versions))];
    const name = Object.entries({ red, green, blue, yellow }).find(([, colour]) => colour === winner)?.[0];
    expect(await colourNow()).toBe(name);
    expect(namesOf(await service.stored(ada))).toEqual(files);
    expect((await reading).map(({ status }) => status)).toEqual(Array(20).fill(200));
  });

  test('a removal brings back the identicon, and counts on', async () => {
    const user = await service.user('viewer');
    const admin = await service.user('admin');
    const drawn = await service.picture(user);
    const untouched = await service.remove(user);
    expect(untouched.json).toMatchObject({ picture: 'identicon', updated_at: null, version: 0 });
    await service.put(user, await plain(red).png().toBuffer(), 'image/png');
    expect((await service.remove(ada, {}, user.user.username)).status).toBe(403);
    expect((await service.remove(admin, {}, 'nobody')).status).toBe(404);
    const removed = await service.remove(admin, {}, user.user.username);
    expect(removed.status).toBe(200);
    expect(removed.json).toMatchObject({ username: user.user.username, picture: 'identicon', version: 2 });
    expect(await service.stored(user)).toEqual([]);
    const again = await service.picture(user);
    expect(again.bytes.equals(drawn.bytes)).toBe(true);
    expect(again.headers['etag']).not.toBe(drawn.headers['etag']);
    expect((await service.remove(user)).json.version).toBe(2);
    expect((await service.put(user, await plain(red).png().toBuffer(), 'image/png')).json.version).toBe(3);
  });

  test('what a dead request left is removed by the next one, unless it may still be alive', async () => {
    const user = await service.user('viewer');
    const neighbour = await service.user('viewer');
    const prefix = picturesPrefix(user.user.user_id);
    const at = (minutes: number) => ulid(Date.now() - minutes * 60_000).toLowerCase();
    const old = [at(60 * 24), at(16)];
    const young = at(1);
    const keys = [...old, young].map((id) => `${prefix}${id}/512.webp`);
    const other = `${picturesPrefix(neighbour.user.user_id)}${old[0]}/512.webp`;
    for (const key of [...keys, other]) await service.objects.put(key, Buffer.from('x'), 'image/webp');
    await service.put(user, await plain(red).png().toBuffer(), 'image/png');
    const left = await service.stored(user);
    expect(left.filter((key) => !key.startsWith(young)).map((key) => key.split('/')[1])).toEqual(files);
    expect(left).toHaveLength(5);
    expect(await service.stored(neighbour)).toHaveLength(1);
  });

  test('a removal of what was before that fails is no failure of the change', async () => {
    const user = await service.user('viewer');
    await service.put(user, await plain(red).png().toBuffer(), 'image/png');
    const log: string[] = [];
    await handle(user, { objects: { delete: () => Promise.reject(new Error('out of order')) } }, log);
    expect(log).toEqual(['pictures-left']);
    expect(await colourAt((await service.picture(user)).bytes, 0.5, 0.5)).toBe('yellow');
    expect(await service.stored(user)).toHaveLength(8);
  });

  test('a user who is deleted meanwhile keeps nothing', async () => {
    const user = await service.user('viewer');
    const gone = { write: () => Promise.reject(new ConditionFailedError([pictureOwner])) };
    await expect(handle(user, { accounts: gone })).rejects.toMatchObject({ kind: 'not-found' });
    expect(await service.stored(user)).toEqual([]);
  });

  test('a record whose write may have been done keeps its objects', async () => {
    const user = await service.user('viewer');
    const write: typeof service.accounts.write = async (...writes) => {
      await service.accounts.write(...writes);
      throw new Error('the reply was lost');
    };
    await expect(handle(user, { accounts: { write } })).rejects.toThrow('the reply was lost');
    expect(await colourAt((await service.picture(user)).bytes, 0.5, 0.5)).toBe('yellow');
  });

  test('a write that took effect unheard is not taken for another change', async () => {
    const user = await service.user('viewer');
    const write: typeof service.accounts.write = async (...writes) => {
      await service.accounts.write(...writes);
      throw new ConditionFailedError();
    };
    expect(await handle(user, { accounts: { write } })).toMatchObject({ version: 1 });
    expect(await service.stored(user)).toHaveLength(4);
    expect(await colourAt((await service.picture(user)).bytes, 0.5, 0.5)).toBe('yellow');
  });
});
