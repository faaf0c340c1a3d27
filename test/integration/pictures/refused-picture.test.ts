import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import type { TestUser } from '../../support/service.ts';
import { damagedPng, gifBomb, half, jpegBomb, pngBomb, scriptedSvg, webpBomb } from './hostile-pictures.ts';
import { noise, type PictureService, pictureService, plain, red } from './picture-service.ts';

const png = () => plain(red).png().toBuffer();
const jpeg = () => plain(red).jpeg().toBuffer();

// One story: each test goes on from the one before it.
describe('a picture that is refused', { shuffle: false }, () => {
  let service: PictureService;
  let ada: TestUser;

  beforeAll(async () => {
    service = await pictureService();
    ada = await service.user('viewer');
  });

  test.each<[string, string, () => Buffer | string | Promise<Buffer>, number, string]>([
    ['nothing', 'image/png', () => '', 400, 'is empty'],
    ['no Content-Type', '', png, 415, 'send application/octet-stream or image/png'],
    ['another Content-Type', 'application/pdf', png, 415, 'application/pdf is not supported'],
    ['bytes that are no picture', 'application/octet-stream', () => 'PNG', 415, 'neither a PNG, JPEG'],
    ['an SVG with a script', 'image/svg+xml', () => scriptedSvg, 415, 'image/svg+xml is not supported'],
    ['an SVG said to be a PNG', 'image/png', () => scriptedSvg, 415, 'neither a PNG, JPEG, WebP nor GIF'],
    ['a JPEG said to be a PNG', 'image/png', jpeg, 415, 'by its bytes the body is image/jpeg'],
    ['a PNG said to be a GIF', 'image/gif', png, 415, 'by its bytes the body is image/png'],
    ['a TIFF', 'image/png', () => plain(red).tiff().toBuffer(), 415, 'neither'],
    ['an AVIF', 'image/webp', () => plain(red).avif().toBuffer(), 415, 'neither'],
    ['HTML', 'image/gif', () => '<html><script>alert(1)</script>', 415, 'neither'],
    ['a WAVE file', 'image/webp', () => 'RIFF\x24\0\0\0WAVEfmt ', 415, 'neither'],
    ['PNG signature, SVG behind', 'image/png', () => pngWith(scriptedSvg), 400, 'damaged or not complete'],
    ['GIF signature, script behind', 'image/gif', () => 'GIF89a \0 \0=1;alert(1)', 400, 'damaged'],
    ['half a PNG', 'image/png', () => half('png'), 400, 'damaged or not complete'],
    ['half a JPEG', 'image/jpeg', () => half('jpeg'), 400, 'damaged or not complete'],
    ['half a WebP', 'image/webp', () => half('webp'), 400, 'damaged or not complete'],
    ['half a GIF', 'image/gif', () => half('gif'), 400, 'damaged or not complete'],
    ['a damaged PNG', 'image/png', damagedPng, 400, 'damaged or not complete'],
    ['a signature alone', 'image/jpeg', () => Buffer.of(0xff, 0xd8, 0xff), 400, 'damaged'],
    ['a line', 'image/png', () => noise(2100, 100).png().toBuffer(), 400, '2100 × 100 pixels'],
    ['a thread', 'image/png', () => pngBomb(1, 30_000_000), 400, '1 × 30000000 pixels'],
    ['256 megapixels of PNG', 'image/png', () => pngBomb(16_000, 16_000), 413, '16000 × 16000 pixels'],
    ['just over 40 megapixels', 'image/png', () => pngBomb(8000, 5001), 413, 'at most 40 megapixels'],
    ['a GIF with a huge screen', 'image/gif', () => gifBomb('screen'), 413, '65535 × 65535 pixels'],
    ['a GIF with a huge frame', 'image/gif', () => gifBomb('frame'), 413, '65535 × 65535 pixels'],
    ['a JPEG that promises much', 'image/jpeg', jpegBomb, 413, '65280 × 65280 pixels'],
    ['a WebP that promises much', 'image/webp', webpBomb, 413, '16383 × 16383 pixels'],
    ['more than 4 MiB', 'image/png', () => Buffer.alloc(4 * 1024 * 1024 + 1), 413, '4194305 bytes'],
  ])('%s', async (_, mediaType, make, status, detail) => {
    const answer = await service.put(ada, await make(), mediaType);
    expect(answer.json.detail).toContain(detail);
    expect(answer.status).toBe(status);
    if (status === 400)
      expect(answer.json.errors).toEqual([{ in: 'body', name: 'body', message: expect.any(String) }]);
    expect(await service.stored(ada)).toEqual([]);
  });

  test('the bomb is one: 31 KB that decode to 256 megapixels', async () => {
    const bomb = pngBomb(16_000, 16_000);
    expect(bomb.length).toBeLessThan(33_000);
    const before = process.memoryUsage().rss;
    expect((await service.put(ada, bomb, 'image/png')).status).toBe(413);
    // Decoded it would be 256 MB at least.
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
    const small = await sharp(pngBomb(64, 64)).metadata();
    expect([small.width, small.height]).toEqual([64, 64]);
  });

  test('just within 4 MiB is not', async () => {
    const picture = await plain(red).png().toBuffer();
    const padded = Buffer.concat([picture, Buffer.alloc(4 * 1024 * 1024 - picture.length)]);
    expect((await service.put(ada, padded, 'image/png')).status).toBe(200);
  });

  test('leaves the one before as it was', async () => {
    const before = await service.picture(ada);
    expect((await service.put(ada, await half('jpeg'), 'image/jpeg')).status).toBe(400);
    const after = await service.picture(ada);
    expect(after.headers['etag']).toBe(before.headers['etag']);
    expect(after.bytes.equals(before.bytes)).toBe(true);
  });
});

const pngWith = (text: string) =>
  Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.from(text)]);
