import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { canonicalJson } from '../../../shared/project-archive/canonical-json.ts';
import { type ArchiveFormat, archiveFormat, manifestOf } from '../../../shared/project-archive/manifest.ts';
import { layoutOf } from '../../../shared/project-archive/zip-layout.ts';

interface Row {
  path: string;
  size: number;
  crc32: number;
  sha256: string;
  media_type?: string;
  created_at?: string;
}
/** Files of an archive, with what its list of files claims of them. */
export type ArchivedFiles = [path: string, bytes: Buffer, claimed?: Partial<Row>][];

/** The files of an archive behind its list, in their order, by its local headers. */
export function filesOf(archive: Buffer): ArchivedFiles {
  const files: ArchivedFiles = [];
  let at = 0;
  while (archive.readUInt32LE(at) === 0x04034b50) {
    const [size, name] = [archive.readUInt32LE(at + 18), archive.readUInt16LE(at + 26)];
    const from = at + 30 + name;
    files.push([archive.toString('utf8', at + 30, from), archive.subarray(from, from + size)]);
    at = from + size;
  }
  const rows =
    files[1]?.[1]
      .toString('utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)) ?? [];
  return files.slice(2).map(([path, bytes], index) => {
    const { media_type, created_at } = rows[index];
    return [path, bytes, { media_type, created_at }];
  });
}

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** An archive of these files that is in order but for what they claim. */
export function packed(
  files: ArchivedFiles,
  change: (manifest: object) => object = (manifest) => manifest,
  format: ArchiveFormat = archiveFormat,
): Buffer {
  const rows = files.map(([path, bytes, claimed]) => ({
    path,
    size: bytes.length,
    crc32: crc32(bytes),
    sha256: digest(bytes),
    ...claimed,
  }));
  const index = Buffer.from(rows.map((row) => `${canonicalJson(row)}\n`).join(''));
  const listed = { files: rows.length, size: index.length, crc32: crc32(index), sha256: digest(index) };
  const manifest = Buffer.from(canonicalJson(change(manifestOf(listed, format))));
  const contents = [manifest, index, ...files.map(([, bytes]) => bytes)];
  const { segments } = layoutOf([
    { path: 'manifest.json', size: manifest.length, crc32: crc32(manifest) },
    { path: 'index.ndjson', size: index.length, crc32: crc32(index) },
    ...rows,
  ]);
  return Buffer.concat(
    segments.map((one) => (one.of === 'bytes' ? one.make() : (contents[one.index] ?? Buffer.alloc(0)))),
  );
}
