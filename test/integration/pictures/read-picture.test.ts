import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import type { TestUser } from '../../support/service.ts';
import { type PictureService, pictureService } from './picture-service.ts';

describe('the picture of a user who has uploaded none', () => {
  let service: PictureService;
  let ada: TestUser;
  let bob: TestUser;
  let guest: TestUser;

  beforeAll(async () => {
    service = await pictureService();
    ada = await service.user('developer');
    bob = await service.user('viewer');
    guest = await service.user('guest');
  });

  test.each([
    {},
    { Accept: '*/*' },
    { Accept: 'image/avif,image/webp,image/png,image/*;q=0.8' },
    { Accept: 'image/webp' },
    { Accept: 'image/png' },
    { Accept: 'text/html' },
  ])('is drawn as PNG whatever is accepted: %o', async (headers) => {
    const large = await service.picture(ada, headers);
    const small = await service.thumbnail(ada, headers);
    expect([large.status, small.status]).toEqual([200, 200]);
    expect(large.headers).toMatchObject({
      'content-type': 'image/png',
      vary: 'Accept',
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff',
    });
    expect(await sharp(large.bytes).metadata()).toMatchObject({ format: 'png', width: 512, height: 512 });
    expect(await sharp(small.bytes).metadata()).toMatchObject({ format: 'png', width: 128, height: 128 });
  });

  test('is always the same for one user and another for each other', async () => {
    const users = await Promise.all(Array.from({ length: 20 }, () => service.user('viewer')));
    const drawings = await Promise.all(users.map(async (user) => (await service.picture(user)).bytes));
    expect(new Set(drawings.map((bytes) => bytes.toString('base64'))).size).toBe(20);
    const again = await service.picture(ada, {}, users[7]?.user.username);
    expect(again.bytes.equals(drawings[7]!)).toBe(true);
  });

  test('has an ETag of its own in each size, which is answered by 304', async () => {
    const answers = await Promise.all([service.picture(ada), service.thumbnail(ada)]);
    const tags = answers.map(({ headers }) => headers['etag']!);
    expect(new Set(tags).size).toBe(2);
    for (const tag of tags) expect(tag).toMatch(/^"0-[A-Za-z0-9_-]{16}"$/);
    const known = await service.picture(ada, { 'If-None-Match': tags[0]! });
    expect(known.status).toBe(304);
    expect(known.bytes).toHaveLength(0);
    expect(known.headers).toMatchObject({ etag: tags[0], vary: 'Accept' });
    expect(known.headers['content-type']).toBeUndefined();
    expect((await service.picture(ada, { 'If-None-Match': tags[1]! })).status).toBe(200);
  });

  test('is seen by every signed-in user but a guest, who sees only their own', async () => {
    expect((await service.picture(bob, {}, ada.user.username)).status).toBe(200);
    expect((await service.picture(bob, {}, ada.user.username.toUpperCase())).status).toBe(200);
    expect((await service.picture(guest)).status).toBe(200);
    expect((await service.thumbnail(guest)).status).toBe(200);
    expect((await service.picture(guest, {}, ada.user.username)).status).toBe(403);
    expect((await service.thumbnail(guest, {}, ada.user.username)).status).toBe(403);
    // Not even whether there is such a user.
    expect((await service.picture(guest, {}, 'nobody')).status).toBe(403);
  });

  test('nobody has a picture who does not exist, or cannot', async () => {
    const unknown = await service.picture(ada, {}, 'nobody');
    expect(unknown.status).toBe(404);
    expect(unknown.json.detail).toBe('There is no user nobody.');
    expect((await service.thumbnail(ada, {}, 'nobody')).status).toBe(404);
    for (const name of ['..', 'a/../b', 'me', '-a', 'a'.repeat(65), 'ä', 'a\u0000'])
      expect((await service.picture(ada, {}, name)).status).toBe(400);
  });

  test('nobody sees it without signing in', async () => {
    const stranger: TestUser = { ...ada, token: 'nothing' };
    expect((await service.picture(stranger)).status).toBe(401);
    expect((await service.thumbnail(stranger)).status).toBe(401);
  });
});
