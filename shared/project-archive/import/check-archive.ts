import { Readable } from 'node:stream';
import type { Deadline } from '../../core/deadline.ts';
import { importObject, type ProjectImport } from '../../data/project-import.ts';
import { uploadObject } from '../../data/upload.ts';
import { Digest } from '../digest.ts';
import { fault } from '../project-archive-error.ts';
import type { Ids } from '../references.ts';
import type { ArchiveFile } from './archive-file.ts';
import { ByteWalk } from './byte-walk.ts';
import {
  type ImportContext,
  type ImportPass,
  idsOf,
  importedFile,
  importedModelFile,
} from './import-context.ts';
import { filesBefore, type OpenArchive } from './open-archive.ts';
import {
  readConfig,
  readConfigBytes,
  readExperiment,
  readModel,
  readPoints,
  readPrinted,
  readProject,
} from './read-document.ts';
import { readRegistered, readVersions } from './read-registry.ts';

/** Progress is written down as often: a crash costs no more. */
const saveMilliseconds = 5000;

/** Where a file of the archive is to lie in the bucket; undefined for a document. */
function placeOf(value: ProjectImport, { experiments, models }: Ids, file: ArchiveFile, index: number) {
  const { placed } = file;
  if (placed.of === 'upload') return uploadObject(placed.kind, value.project_id, placed.sha256);
  if (placed.of === 'file')
    return importedFile(value, experiments[placed.number - 1] ?? '', placed.kind, index);
  if (placed.of === 'model-file') return importedModelFile(value, models[placed.number - 1] ?? '', index);
  return undefined;
}

async function readThrough(values: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of values);
}

/** Read a document as the recording will, so that it meets no fault once something is recorded. */
async function checkDocument(
  archive: OpenArchive,
  file: ArchiveFile,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  switch (file.placed.of) {
    case 'project':
      await readProject(archive, bytes);
      break;
    case 'config':
      await readConfig(archive, bytes, file);
      break;
    case 'config-version':
    case 'experiment-config':
      await readConfigBytes(bytes, file);
      break;
    case 'experiment':
      await readExperiment(archive, bytes, file);
      break;
    case 'metrics':
      await readThrough(readPoints(bytes, file));
      break;
    case 'log':
      await readThrough(readPrinted(bytes, file));
      break;
    case 'model':
      await readModel(archive, bytes, file);
      break;
    case 'registered':
      await readRegistered(archive, bytes, file);
      break;
    case 'versions':
      await readThrough(readVersions(archive, bytes, file));
      break;
    default:
      throw new Error(`${file.path} is no document`);
  }
}

/** The bytes of a file as they pass; an error at their end where they are not those that the list names. */
async function* verified(file: ArchiveFile, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const digest = new Digest();
  for await (const chunk of bytes) {
    digest.add(chunk);
    yield chunk;
  }
  const { sha256, crc32 } = digest.end();
  if (sha256 !== file.sha256 || crc32 !== file.crc32)
    throw fault(`${file.path} does not have the digest that the list of files names`);
}

async function requireBytes(walk: ByteWalk, expected: Buffer): Promise<void> {
  let at = 0;
  for await (const chunk of walk.take(expected.length)) {
    if (!expected.subarray(at, at + chunk.length).equals(chunk))
      throw fault('its zip directory does not agree with its list of files');
    at += chunk.length;
  }
}

/**
 * Read the archive from the first file that was not read before, compare each byte with what the list of files says, and
 * store its files where the project will have them. Nothing of it is recorded yet.
 * @returns whether all is read
 * @throws ProjectArchiveError
 */
export async function checkArchive(
  { objects, projectBytes }: ImportContext,
  pass: ImportPass,
  archive: OpenArchive,
  hasTime: Deadline,
): Promise<boolean> {
  const begun = pass.value;
  const { files, layout, contents } = archive;
  const ids = idsOf(begun, { experiments: contents.experiments.length, models: contents.models.length });
  const kept = files.filter((file, index) => placeOf(begun, ids, file, index) !== undefined);
  const bytes = kept.reduce((sum, { size }) => sum + size, 0);
  if (bytes > projectBytes)
    throw fault(`its files have ${bytes} bytes; a project may hold ${projectBytes} of them here`);

  // Before each file stands its header.
  const first = begun.done === 0 ? 0 : 2 * (begun.done + filesBefore);
  const from = layout.segments[first]?.at ?? layout.size;
  const stream = await objects.open(importObject(begun.project_id), { from });
  if (stream === undefined) throw fault('it is no longer there');
  const walk = new ByteWalk(stream.body);
  let saved = performance.now();
  try {
    for (const segment of layout.segments.slice(first)) {
      if (segment.of === 'bytes') {
        await requireBytes(walk, segment.make());
        continue;
      }
      const index = segment.index - filesBefore;
      const file = files[index];
      if (file === undefined) {
        // The manifest and the list themselves, which were read before.
        await readThrough(walk.take(segment.length));
        continue;
      }
      const content = verified(file, walk.take(segment.length));
      const place = placeOf(begun, ids, file, index);
      if (place === undefined) {
        await checkDocument(archive, file, content);
        // A document may end before its bytes do.
        await readThrough(content);
      } else {
        const type = file.media_type ?? 'application/octet-stream';
        await objects.putStream(place, Readable.from(content, { objectMode: false }), type);
      }
      const isLate = performance.now() - saved > saveMilliseconds;
      if (isLate || !hasTime()) {
        await pass.save({ done: index + 1, failures: 0 });
        saved = performance.now();
      }
      if (!hasTime()) return false;
    }
    return true;
  } finally {
    await walk.end();
  }
}
