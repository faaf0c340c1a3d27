import { crc32, deflateSync } from 'node:zlib';

interface MadePng {
  width: number;
  height: number;
  depth?: 8 | 16;
  /** Red, green and blue, or with opacity. */
  channels?: 3 | 4;
  isInterlaced?: boolean;
  /** Bytes of its rows; all of them unless it breaks off. */
  bytes?: number;
}

/** A black PNG: few bytes, however many pixels it has. */
export function madePng({
  width,
  height,
  depth = 8,
  channels = 3,
  isInterlaced = false,
  bytes,
}: MadePng): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([depth, channels === 3 ? 2 : 6, 0, 0, isInterlaced ? 1 : 0], 8);
  const rows = (isInterlaced ? passes : [[0, 0, 1, 1] as const]).reduce((sum, [left, top, right, down]) => {
    const [across, along] = [Math.ceil((width - left) / right), Math.ceil((height - top) / down)];
    return sum + (across > 0 && along > 0 ? along * (1 + (across * channels * depth) / 8) : 0);
  }, 0);
  const data = deflateSync(Buffer.alloc(bytes ?? rows), { level: 1 });
  const start = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([start, chunk('IHDR', head), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

/** First column and row of each pass of Adam7, and their steps. */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
