import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { partsOf } from '../../aws/multipart.ts';
import type { ObjectReader, ObjectWriter } from '../../aws/objects.ts';
import type { Deadline } from '../../core/deadline.ts';
import { exportObject, exportWorkPrefix, type ProjectExport } from '../../data/projects/project-archives.ts';
import { canonicalJson } from '../canonical-json.ts';
import { Digest } from '../digest.ts';
import { readLines } from '../lines.ts';
import { indexMaxBytes, indexPath, manifestOf, manifestPath, maxArchiveFiles } from '../manifest.ts';
import { ProjectArchiveError } from '../project-archive-error.ts';
import { layoutOf, segmentsBetween, type ZipLayout } from '../zip-layout.ts';
import { PlannedFile } from './export-context.ts';
import { pieceObject } from './piece-writer.ts';

const maxLine = 10_000;

const mebibyte = 1024 ** 2;
/** Bytes of each part. Storage accepts 10,000 parts, and memory holds one part. */
const partBytesOf = (size: number): number =>
  Math.max(16 * mebibyte, Math.ceil(size / 9000 / mebibyte) * mebibyte);

/** Location of the bytes of a file in the archive. */
type Place = { object: string; offset: number } | { bytes: Buffer };

interface Plan {
  layout: ZipLayout;
  places: Place[];
}

/** Yield the files of an export in the order of its pieces. */
async function* plannedFiles(objects: ObjectReader, value: ProjectExport): AsyncGenerator<PlannedFile> {
  const prefix = exportWorkPrefix(value);
  for (const id of value.pieces) {
    const bytes = await objects.read(pieceObject(prefix, id));
    if (bytes === undefined) throw new Error(`the piece ${id} of an export is missing`);
    for await (const line of readLines(bytes, maxLine)) yield PlannedFile.parse(JSON.parse(line));
  }
}

/** Build the archive's file list and its layout. Store the list next to the pieces. */
async function planOf(objects: ObjectWriter, value: ProjectExport): Promise<Plan> {
  const entries: { path: string; size: number; crc32: number }[] = [];
  const places: Place[] = [];
  const digest = new Digest();
  const object = `${exportWorkPrefix(value)}${indexPath}`;
  const lines = async function* (): AsyncGenerator<Buffer> {
    for await (const { object: from, offset, ...row } of plannedFiles(objects, value)) {
      if (entries.length === maxArchiveFiles)
        throw new ProjectArchiveError(
          `The project has more than ${maxArchiveFiles} files, the maximum of an archive.`,
        );
      entries.push({ path: row.path, size: row.size, crc32: row.crc32 });
      places.push({ object: from, offset });
      const line = Buffer.from(`${canonicalJson(row)}\n`);
      digest.add(line);
      if (digest.size > indexMaxBytes)
        throw new ProjectArchiveError(
          'The paths of the project’s files together are too long for an archive.',
        );
      yield line;
    }
  };
  await objects.putStream(object, Readable.from(lines()), 'application/x-ndjson');
  const index = { ...digest.end(), files: entries.length };
  const manifest = Buffer.from(canonicalJson(manifestOf(index)));
  const ofManifest = new Digest();
  ofManifest.add(manifest);
  const head = [
    { path: manifestPath, ...ofManifest.end() },
    { path: indexPath, size: index.size, crc32: index.crc32 },
  ];
  return {
    layout: layoutOf([...head, ...entries]),
    places: [{ bytes: manifest }, { object, offset: 0 }, ...places],
  };
}

interface Range {
  object: string;
  /** First byte, and the byte after the last one. */
  from: number;
  to: number;
}

async function readRange(objects: ObjectReader, { object, from, to }: Range): Promise<Buffer> {
  const stream = await objects.read(object, { first: from, last: to - 1 });
  if (stream === undefined)
    throw new ProjectArchiveError('A file was deleted during the export. Start the export again.');
  const bytes = await buffer(stream);
  if (bytes.length !== to - from) throw new Error(`${object} has changed`);
  return bytes;
}

/** Return one part of the archive. Documents from one object are contiguous, so each object is read once. */
async function partBytes(
  objects: ObjectReader,
  { layout, places }: Plan,
  { offset, size }: { offset: number; size: number },
): Promise<Buffer> {
  const part = Buffer.alloc(size);
  const end = offset + size;
  const wanted: (Range & { at: number })[] = [];
  for (const segment of segmentsBetween(layout, offset, end)) {
    const from = Math.max(offset, segment.at) - segment.at;
    const to = Math.min(end, segment.at + segment.length) - segment.at;
    if (from >= to) continue;
    const at = segment.at + from - offset;
    if (segment.of === 'bytes') {
      segment.make().copy(part, at, from, to);
      continue;
    }
    const place = places[segment.index];
    if (place === undefined) throw new Error('a file of the archive has no location');
    if ('bytes' in place) place.bytes.copy(part, at, from, to);
    else wanted.push({ at, object: place.object, from: place.offset + from, to: place.offset + to });
  }
  for (const [object, ranges] of Map.groupBy(wanted, (one) => one.object)) {
    const from = ranges.reduce((least, range) => Math.min(least, range.from), Number.POSITIVE_INFINITY);
    const bytes = await readRange(objects, {
      object,
      from,
      to: ranges.reduce((most, range) => Math.max(most, range.to), 0),
    });
    for (const range of ranges) bytes.copy(part, range.at, range.from - from, range.to - from);
  }
  return part;
}

/**
 * Write the archive in parts. Skip existing parts: a part has the same bytes, whichever pass writes it.
 * @returns bytes of the archive; undefined if time ran out
 */
export async function packArchive(
  objects: ObjectWriter,
  value: ProjectExport,
  upload_id: string,
  hasTime: Deadline,
): Promise<number | undefined> {
  const object = exportObject(value);
  const plan = await planOf(objects, value);
  const { size } = plan.layout;
  const parts = partsOf(size, partBytesOf(size));
  // The upload no longer exists if its parts were joined before.
  for (const part of (await objects.missingParts(object, upload_id, parts)) ?? []) {
    if (!hasTime()) return undefined;
    await objects.putPart(object, upload_id, part.part_number, await partBytes(objects, plan, part));
  }
  const missing = await objects.completeParts(object, upload_id, parts);
  if (missing !== undefined && missing.length > 0)
    throw new Error(`${missing.length} parts of an archive are missing`);
  const stored = await objects.head(object);
  if (stored?.size !== size) throw new Error('the archive that was stored has another size');
  return size;
}
