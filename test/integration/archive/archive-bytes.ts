import { crc32 } from 'node:zlib';

/** A tar entry as bytes, however hostile: the header is filled in by hand and only then gets its checksum. */
export function tarEntry(
  name: string | Buffer,
  fields: {
    content?: string | Buffer;
    type?: string;
    mode?: string;
    size?: string;
    link?: string;
    gnu?: boolean;
  } = {},
): Buffer {
  const content = Buffer.from(fields.content ?? '');
  const header = Buffer.alloc(512);
  Buffer.from(name).copy(header, 0, 0, 100);
  header.write(fields.mode ?? '0000644', 100, 'latin1');
  header.write('0000000', 108);
  header.write('0000000', 116);
  header.write(fields.size ?? content.length.toString(8).padStart(11, '0'), 124, 12, 'latin1');
  header.write('00000000000', 136);
  header.write(fields.type ?? '0', 156, 'latin1');
  header.write(fields.link ?? '', 157);
  header.write(fields.gnu === true ? 'ustar  \0' : 'ustar\x0000', 257, 'latin1');
  return Buffer.concat([seal(header), content, Buffer.alloc(-content.length & 511)]);
}

/** Writes the checksum of a header block into it. */
export function seal(header: Buffer): Buffer {
  header.write('        ', 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

export const tarEnd = Buffer.alloc(1024);

export function tar(...entries: Buffer[]): Buffer {
  return Buffer.concat([...entries, tarEnd]);
}

/** A pax extended header of those records. */
export function pax(records: Record<string, string>, type = 'x'): Buffer {
  const content = Object.entries(records).map(([key, value]) => {
    const rest = Buffer.byteLength(` ${key}=${value}\n`);
    let length = rest + 1;
    while (String(length).length + rest !== length) length += 1;
    return `${length} ${key}=${value}\n`;
  });
  return tarEntry('PaxHeaders/x', { type, content: content.join('') });
}

interface ZipFields {
  content?: Buffer;
  mode?: number;
  flags?: number;
  method?: number;
  crc?: number;
  size?: number;
  compressedSize?: number;
}

/** A zip archive as bytes; sizes, checksum and flags are as told, not as they should be. */
export function zip(entries: Record<string, ZipFields>, end: { count?: number; tail?: Buffer } = {}): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, fields] of Object.entries(entries)) {
    const content = fields.content ?? Buffer.alloc(0);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(fields.flags ?? 0x800, 2);
    shared.writeUInt16LE(fields.method ?? 0, 4);
    shared.writeUInt32LE(fields.crc ?? crc32(content), 10);
    shared.writeUInt32LE(fields.compressedSize ?? content.length, 14);
    shared.writeUInt32LE(fields.size ?? content.length, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), shared, Buffer.from(name), content]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(((fields.mode ?? 0o100644) << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    bodies.push(local);
    directory.push(Buffer.from('PK\x01\x02'), Buffer.of(20, 3), shared, rest, Buffer.from(name));
    offset += local.length;
  }
  const listing = Buffer.concat(directory);
  const count = end.count ?? Object.keys(entries).length;
  const eocd = Buffer.alloc(18);
  eocd.writeUInt16LE(count, 4);
  eocd.writeUInt16LE(count, 6);
  eocd.writeUInt32LE(listing.length, 8);
  eocd.writeUInt32LE(offset, 12);
  const tail = end.tail ?? Buffer.alloc(0);
  return Buffer.concat([...bodies, listing, tail, Buffer.from('PK\x05\x06'), eocd]);
}
