import { crc32, deflateSync } from 'node:zlib';
import { noise, plain } from './picture-service.ts';

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  whole.set(body, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

/** A valid PNG of one black-and-white colour: a pixel takes one bit, and the whole next to nothing. */
export function pngBomb(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height), { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A GIF with one coded pixel: its screen, or the frame on it, is said to have 65,535 × 65,535. */
export function gifBomb(part: 'screen' | 'frame'): Buffer {
  const picture = Buffer.from(
    'GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;',
    'latin1',
  );
  const at = part === 'screen' ? 6 : picture.indexOf(',') + 5;
  return picture.fill(0xff, at, at + 4);
}

/** A JPEG whose header promises 65,280 × 65,280 pixels; 65,500 is the most that the format's library takes. */
export async function jpegBomb(): Promise<Buffer> {
  const picture = await plain([9, 9, 9]).jpeg().toBuffer();
  const frame = picture.indexOf(Buffer.of(0xff, 0xc0));
  picture.set([0xff, 0x00, 0xff, 0x00], frame + 5);
  return picture;
}

/** A WebP whose header promises 16,383 × 16,383 pixels, the most of the format. */
export async function webpBomb(): Promise<Buffer> {
  const picture = await plain([0, 0, 0]).webp({ lossless: true }).toBuffer();
  picture.writeUInt32LE((16_382 | (16_382 << 14)) >>> 0, 21);
  return picture;
}

/** The first half of a picture. */
export async function half(format: 'png' | 'jpeg' | 'webp' | 'gif'): Promise<Buffer> {
  const picture = await noise(300, 300).toFormat(format).toBuffer();
  return picture.subarray(0, picture.length / 2);
}

/** A PNG with a byte changed in the midst of its pixels. */
export async function damagedPng(): Promise<Buffer> {
  const picture = await noise(300, 300).png().toBuffer();
  const at = Math.floor(picture.length / 2);
  picture[at] = (picture[at] ?? 0) ^ 0xff;
  return picture;
}

export const scriptedSvg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><script>alert(1)</script><image href="file:///etc/passwd"/></svg>';
