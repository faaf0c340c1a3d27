import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

/** Write a log of W&B in one block. */
export async function writeLog(folder: string, id: string, ...records: Buffer[]): Promise<string> {
  const parts = [field(17, Buffer.concat([field(1, id), field(3, 'digits'), field(8, id)])), ...records].map(
    (record) => {
      const typeAndData = Buffer.concat([Buffer.from([1]), record]);
      const header = Buffer.alloc(6);
      header.writeUInt32LE(crc32(typeAndData), 0);
      header.writeUInt16LE(record.length, 4);
      return Buffer.concat([header, typeAndData]);
    },
  );
  await mkdir(folder, { recursive: true });
  const path = join(folder, `run-${id}.wandb`);
  await writeFile(path, Buffer.concat([Buffer.from(':W&B\xe1\xbe\x00', 'latin1'), ...parts]));
  await utimes(path, 1_700_000_000, 1_700_000_000);
  return path;
}

/** A field of protobuf with bytes or a number. */
export function field(number: number, value: Uint8Array | string | number): Buffer {
  const varint = (rest: number): number[] =>
    rest < 128 ? [rest] : [(rest % 128) | 128, ...varint(Math.floor(rest / 128))];
  if (typeof value === 'number') return Buffer.from([...varint(number * 8), ...varint(value)]);
  const bytes = Buffer.from(value as string);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

/** An item of a config, a summary or a history. */
export const item = (path: readonly string[], json: string) =>
  field(1, Buffer.concat([...path.map((name) => field(2, name)), field(16, json)]));
export const config = (...items: Buffer[]) => field(5, Buffer.concat(items));
export const ended = field(18, field(2, 1));
