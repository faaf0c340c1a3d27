import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { sampled } from '../../support/samples.ts';
import type { TestUser } from '../../support/service.ts';
import {
  blue,
  type Colour,
  colourAt,
  green,
  noise,
  type PictureService,
  pictureService,
  plain,
  quarters,
  red,
  yellow,
} from './picture-service.ts';

const corners = async (bytes: Uint8Array) =>
  Promise.all([0.2, 0.8].flatMap((y) => [0.2, 0.8].map((x) => colourAt(bytes, x, y))));

describe('an uploaded picture', () => {
  let service: PictureService;
  let ada: TestUser;
  let admin: TestUser;

  beforeAll(async () => {
    service = await pictureService();
    ada = await service.user('guest');
    admin = await service.user('admin');
  });

  test.each(sampled(['png', 'jpeg', 'webp', 'gif'], 3))(
    'may be %s, and is answered in both sizes and formats',
    async (format) => {
      const sent = await quarters([red, green, blue, yellow]).toFormat(format, { quality: 95 }).toBuffer();
      const stored = await service.put(ada, sent, `image/${format}`);
      expect(stored.status).toBe(200);
      expect(stored.json).toEqual({
        user_id: ada.user.user_id,
        username: ada.user.username,
        picture: 'uploaded',
        updated_at: expect.any(String),
        version: expect.any(Number),
      });
      for (const accepted of ['webp', 'png']) {
        const headers = { Accept: `image/${accepted}` };
        for (const [side, answer] of [
          [512, await service.picture(ada, headers)],
          [128, await service.thumbnail(ada, headers)],
        ] as const) {
          expect(answer.status).toBe(200);
          expect(answer.headers['content-type']).toBe(`image/${accepted}`);
          expect(await sharp(answer.bytes).metadata()).toMatchObject({
            format: accepted,
            width: side,
            height: side,
          });
          expect(await corners(answer.bytes)).toEqual(['red', 'green', 'blue', 'yellow']);
        }
      }
    },
  );

  // What a camera means by each orientation: where the corners of what it stored belong.
  test.each(
    sampled(
      [
        [1, ['red', 'green', 'blue', 'yellow']],
        [2, ['green', 'red', 'yellow', 'blue']],
        [3, ['yellow', 'blue', 'green', 'red']],
        [4, ['blue', 'yellow', 'red', 'green']],
        [5, ['red', 'blue', 'green', 'yellow']],
        [6, ['blue', 'red', 'yellow', 'green']],
        [7, ['yellow', 'green', 'blue', 'red']],
        [8, ['green', 'yellow', 'red', 'blue']],
      ],
      3,
    ),
  )('of orientation %i is turned upright', async (orientation, upright) => {
    const sent = await quarters([red, green, blue, yellow])
      .jpeg({ quality: 95 })
      .withMetadata({ orientation })
      .toBuffer();
    expect((await service.put(ada, sent, 'image/jpeg')).status).toBe(200);
    const { bytes } = await service.picture(ada, { Accept: 'image/png' });
    expect(await corners(bytes)).toEqual(upright);
    expect((await sharp(bytes).metadata()).orientation).toBeUndefined();
  });

  test.each(sampled(['gif', 'webp'], 2))('that moves (%s) takes its first frame', async (format) => {
    const frames = await Promise.all([red, blue, green].map((colour) => plain(colour).png().toBuffer()));
    const sent = await sharp(frames, { join: { animated: true } })
      .toFormat(format)
      .toBuffer();
    expect((await sharp(sent).metadata()).pages).toBe(3);
    expect((await service.put(ada, sent, `image/${format}`)).status).toBe(200);
    const { bytes } = await service.picture(ada);
    expect(await corners(bytes)).toEqual(['red', 'red', 'red', 'red']);
    expect((await sharp(bytes).metadata()).pages).toBeUndefined();
  });

  test('keeps nothing but its pixels, which are converted to sRGB', async () => {
    const sent = await quarters([red, red, green, blue])
      .withExif({ IFD0: { Copyright: 'SECRET-EXIF' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
      .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/">SECRET-XMP</x:xmpmeta>')
      .withIccProfile('p3')
      .jpeg({ quality: 95 })
      .toBuffer();
    const before = await sharp(sent).metadata();
    expect([before.exif, before.xmp, before.icc].map((one) => one !== undefined)).toEqual([true, true, true]);
    expect(sent.includes('SECRET-EXIF')).toBe(true);
    expect((await service.put(ada, sent, 'image/jpeg')).status).toBe(200);
    for (const accepted of ['image/webp', 'image/png']) {
      for (const { bytes } of [
        await service.picture(ada, { Accept: accepted }),
        await service.thumbnail(ada, { Accept: accepted }),
      ]) {
        const after = await sharp(bytes).metadata();
        expect([after.exif, after.xmp, after.icc, after.iptc, after.comments]).toEqual(
          Array(5).fill(undefined),
        );
        expect(bytes.includes('SECRET')).toBe(false);
        expect(await corners(bytes)).toEqual(['red', 'red', 'green', 'blue']);
      }
    }
  });

  test.each<[string, number, number, number, number]>([
    ['wide', 900, 300, 780, 150],
    ['high', 300, 900, 150, 120],
  ])('that is %s is cut to a square around what draws the eye', async (_, width, height, left, top) => {
    const face = await plain(red, 100).png().toBuffer();
    const sent = await plain([128, 128, 128] satisfies Colour, width, height)
      .composite([{ input: face, left: left - 50, top: top - 50 }])
      .png()
      .toBuffer();
    expect((await service.put(ada, sent, 'image/png')).status).toBe(200);
    const { data, info } = await sharp((await service.picture(ada)).bytes)
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([info.width, info.height]).toEqual([512, 512]);
    let reddish = 0;
    for (let at = 0; at < data.length; at += info.channels) {
      if (data[at]! > 200 && data[at + 1]! < 60) reddish += 1;
    }
    // The face is a ninth of the square, if it is there whole.
    expect(reddish / (512 * 512)).toBeGreaterThan(0.1);
  });

  test.each([
    ['one pixel', () => plain(red, 1).png().toBuffer(), 'image/png'],
    ['grey', () => noise(60, 60).greyscale().jpeg().toBuffer(), 'image/jpeg'],
    ['CMYK', () => noise(60, 60).toColourspace('cmyk').jpeg().toBuffer(), 'image/jpeg'],
    ['progressive', () => noise(60, 60).jpeg({ progressive: true }).toBuffer(), 'image/jpeg'],
    ['16 bits a channel', () => noise(60, 60).toColourspace('rgb16').png().toBuffer(), 'image/png'],
    [
      'interlaced with a palette',
      () => plain(red).png({ palette: true, progressive: true }).toBuffer(),
      'image/png',
    ],
    ['20 times as wide as high', () => noise(2000, 100).png().toBuffer(), 'image/png'],
    ['just within 40 megapixels', () => plain(blue, 8000, 5000).png().toBuffer(), 'image/png'],
  ])('may be unusual: %s', async (_, make, mediaType) => {
    const stored = await service.put(ada, await make(), mediaType);
    expect([stored.status, stored.json.detail]).toEqual([200, undefined]);
    const { bytes } = await service.picture(ada, { Accept: 'image/png' });
    const { width, height, depth, space } = await sharp(bytes).metadata();
    expect({ width, height, depth, space }).toEqual({
      width: 512,
      height: 512,
      depth: 'uchar',
      space: 'srgb',
    });
  });

  test('keeps its transparency', async () => {
    const sent = await sharp({
      create: { width: 50, height: 50, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 0.5 } },
    })
      .png()
      .toBuffer();
    await service.put(ada, sent, 'image/png');
    const { data, info } = await sharp((await service.thumbnail(ada, { Accept: 'image/png' })).bytes)
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect(info.channels).toBe(4);
    expect([...data.subarray(0, 4)]).toEqual([255, 0, 0, 128]);
  });

  test('with a script behind its end loses it', async () => {
    const picture = await quarters([red, green, blue, yellow]).png().toBuffer();
    const script = Buffer.from('<script>alert(document.domain)</script>');
    expect((await service.put(ada, Buffer.concat([picture, script]), 'image/png')).status).toBe(200);
    for (const accepted of ['image/webp', 'image/png']) {
      const { bytes } = await service.picture(ada, { Accept: accepted });
      expect(bytes.includes('script')).toBe(false);
      expect(await corners(bytes)).toEqual(['red', 'green', 'blue', 'yellow']);
    }
  });

  test('is put by the user themselves or an admin, and by nobody else', async () => {
    const sent = await plain(green).png().toBuffer();
    const developer = await service.user('developer');
    const refused = await service.put(developer, sent, 'image/png', {}, ada.user.username);
    expect(refused.status).toBe(403);
    expect((await service.put(ada, sent, 'image/png', {}, developer.user.username)).status).toBe(403);
    expect((await service.put(developer, sent, 'image/png', {}, 'nobody')).status).toBe(403);
    expect((await service.put(admin, sent, 'image/png', {}, 'nobody')).status).toBe(404);
    expect((await service.put(admin, sent, 'image/png', {}, ada.user.username)).status).toBe(200);
    expect(await colourAt((await service.picture(ada)).bytes, 0.5, 0.5)).toBe('green');
    expect((await service.put({ ...ada, token: 'nothing' }, sent, 'image/png')).status).toBe(401);
  });
});
