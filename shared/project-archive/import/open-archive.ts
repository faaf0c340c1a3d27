import { buffer } from 'node:stream/consumers';
import type { ObjectReader } from '../../aws/objects.ts';
import { canonicalJson, parseCanonical } from '../canonical-json.ts';
import { Digest } from '../digest.ts';
import {
  type ArchiveFormat,
  archiveFormat,
  IndexRow,
  indexMaxBytes,
  indexPath,
  Manifest,
  manifestMaxBytes,
  manifestOf,
  manifestPath,
  maxArchiveFiles,
  type Placed,
  placedAt,
} from '../manifest.ts';
import { fault } from '../project-archive-error.ts';
import { readLines } from '../read-lines.ts';
import { firstHeaderBytes, layoutOf, sizeInHeader, type ZipLayout } from '../zip-layout.ts';
import type { ArchiveFile } from './archive-file.ts';
import { type Contents, contentsOf } from './contents.ts';

/** An archive whose list of files has been read, and which is as long as these make it. */
export interface OpenArchive {
  files: readonly ArchiveFile[];
  layout: ZipLayout;
  contents: Contents;
  /** The bytes of a file. */
  read(index: number): AsyncIterable<Uint8Array>;
}

/** Files of the archive before those that its list names: the manifest, and the list. */
export const filesBefore = 2;
const rowMaxBytes = 10_000;

const foreign = () =>
  fault(
    'it is not an archive of this service as it was exported; one that was changed, or packed anew by another program, is none',
  );

/** Whether an archive of this format may hold such a file. */
const isInFormat = (format: ArchiveFormat, { of }: Placed): boolean =>
  format > 1 || (of !== 'registered' && of !== 'versions');

function readManifest(text: string): Manifest {
  let format: unknown;
  try {
    format = Object(JSON.parse(text)).format;
  } catch {
    throw foreign();
  }
  if (typeof format === 'number' && Number.isSafeInteger(format) && format > archiveFormat)
    throw fault(
      `its format is ${format}, and this version of the service reads formats up to ${archiveFormat}`,
    );
  const manifest = parseCanonical(text, Manifest);
  if (manifest === undefined || canonicalJson(manifestOf(manifest.index, manifest.format)) !== text)
    throw foreign();
  return manifest;
}

/**
 * Read what an archive holds. Nothing that the zip says of itself is believed: by the list of files each of its bytes but
 * theirs is known, and is compared while they are read.
 * @throws ProjectArchiveError
 */
export async function openArchive(objects: ObjectReader, object: string, size: number): Promise<OpenArchive> {
  const range = async (first: number, bytes: number) => {
    if (bytes === 0) return [];
    const stream = await objects.read(object, { first, last: first + bytes - 1 });
    // Another pass ended the import meanwhile, or it expired. Nothing is not what the archive holds.
    if (stream === undefined) throw fault('it is no longer there');
    return stream;
  };
  const take = async (first: number, bytes: number): Promise<Buffer> => {
    if (first + bytes > size) throw foreign();
    const stream = await range(first, bytes);
    return Array.isArray(stream) ? Buffer.alloc(0) : buffer(stream);
  };
  const headerBytes = firstHeaderBytes(manifestPath);
  const manifestSize = sizeInHeader(await take(0, headerBytes), manifestPath);
  if (manifestSize === undefined || manifestSize > manifestMaxBytes) throw foreign();
  const text = (await take(headerBytes, manifestSize)).toString('utf8');
  const { index, format } = readManifest(text);
  const indexAt = headerBytes + manifestSize + firstHeaderBytes(indexPath);
  if (index.files > maxArchiveFiles)
    throw fault(`it lists ${index.files} files; at most ${maxArchiveFiles} are allowed`);
  if (index.size > indexMaxBytes || indexAt + index.size > size) throw foreign();

  const digest = new Digest();
  const listed = async function* () {
    for await (const chunk of await range(indexAt, index.size)) {
      digest.add(chunk);
      yield chunk;
    }
  };
  const files: ArchiveFile[] = [];
  const seen = new Set<string>();
  for await (const line of readLines(listed(), rowMaxBytes)) {
    const row = parseCanonical(line, IndexRow);
    if (row === undefined) throw fault(`line ${files.length + 1} of its list of files is not valid`);
    const placed = placedAt(row.path);
    if (placed === undefined || !isInFormat(format, placed))
      throw fault(`format ${format} has no file ${JSON.stringify(row.path.slice(0, 200))}`);
    if (seen.has(row.path)) throw fault(`it lists ${JSON.stringify(row.path.slice(0, 200))} twice`);
    seen.add(row.path);
    files.push({ ...row, placed });
    if (files.length > index.files) throw foreign();
  }
  const { sha256, crc32 } = digest.end();
  if (sha256 !== index.sha256 || crc32 !== index.crc32 || files.length !== index.files)
    throw fault('its list of files does not have the digest that its manifest names');

  const ofManifest = new Digest();
  ofManifest.add(Buffer.from(text));
  const layout = layoutOf([
    { path: manifestPath, ...ofManifest.end() },
    { path: indexPath, size: index.size, crc32 },
    ...files,
  ]);
  if (layout.size !== size) throw foreign();
  const starts = new Map(
    layout.segments.flatMap((one) => (one.of === 'entry' ? [[one.index, one.at] as const] : [])),
  );
  const read = async function* (position: number): AsyncGenerator<Uint8Array> {
    const at = starts.get(position + filesBefore);
    const length = files[position]?.size ?? 0;
    if (at !== undefined) yield* await range(at, length);
  };
  return { files, layout, contents: contentsOf(files), read };
}
