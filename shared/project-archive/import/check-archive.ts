import { Readable } from 'node:stream';
import type { Deadline } from '../../core/deadline.ts';
import { importObject, type ProjectImport } from '../../data/projects/project-archives.ts';
import { uploadObject } from '../../data/projects/upload.ts';
import type { EnvironmentSpec } from '../../runner/environment/dependencies/parse-dependencies.ts';
import { deploymentFaults } from '../../runner/training/environment-faults.ts';
import { Digest } from '../digest.ts';
import { Faults, fault } from '../project-archive-error.ts';
import type { Ids } from '../references.ts';
import {
  type Deployment,
  type ImportContext,
  type ImportPass,
  idsOf,
  importedFile,
  importedModelFile,
} from './import-context.ts';
import { type ArchiveFile, filesBefore, type OpenArchive } from './open-archive.ts';
import {
  checkConfigBytes,
  fileAt,
  readConfig,
  readExperiment,
  readModel,
  readPoints,
  readPrinted,
  readProject,
  readRegistered,
  readSchedule,
  readVersions,
} from './read-document.ts';
import { readReport } from './read-report.ts';

/**
 * Read the archive, beginning with the first unread file. Compare each byte with the file list, and store the
 * files at their keys in the new project. No record is written yet.
 * @returns whether the whole archive was read
 * @throws ProjectArchiveError
 */
export async function checkArchive(
  { objects, projectBytes, deployment }: ImportContext,
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
    throw fault(`its files have ${bytes} bytes, but a project may have ${projectBytes} in this deployment`);

  // A header precedes each file.
  const first = begun.done === 0 ? 0 : 2 * (begun.done + filesBefore);
  const from = layout.segments[first]?.at ?? layout.size;
  const stream = await objects.open(importObject(begun.project_id), { from });
  if (stream === undefined) throw fault('its upload no longer exists');
  const walk = new ByteWalk(stream.body);
  const faults = new Faults();
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
        // Skip the manifest and the list, which were read before.
        await readThrough(walk.take(segment.length));
        continue;
      }
      const content = verified(file, walk.take(segment.length));
      const place = placeOf(begun, ids, file, index);
      if (place === undefined) {
        await faults.within(() => checkDocument(archive, file, unclosed(content), deployment));
        // The parser may stop before the end of the document's bytes.
        await faults.within(() => readThrough(content));
      } else if (faults.isEmpty) {
        const type = file.media_type ?? 'application/octet-stream';
        await objects.putStream(place, Readable.from(content, { objectMode: false }), type);
      } else await faults.within(() => readThrough(content));
      if (faults.isFull) faults.raise();
      const isLate = performance.now() - saved > saveMilliseconds;
      // Report the faults at the end of this pass: the next one would begin after them.
      if (!hasTime()) faults.raise();
      if (faults.isEmpty && (isLate || !hasTime())) {
        await pass.save({ done: index + 1, failures: 0 });
        saved = performance.now();
      }
      if (!hasTime()) return false;
    }
    faults.raise();
    return true;
  } finally {
    await walk.end();
  }
}

/** Return the target key of a file in the bucket; undefined for a document. */
function placeOf(value: ProjectImport, { experiments, models }: Ids, file: ArchiveFile, index: number) {
  const { placed } = file;
  if (placed.of === 'upload') return uploadObject(placed.kind, value.project_id, placed.sha256);
  if (placed.of === 'file')
    return importedFile(value, experiments[placed.number - 1] ?? '', placed.kind, index);
  if (placed.of === 'model-file') return importedModelFile(value, models[placed.number - 1] ?? '', index);
  return undefined;
}

/** Split a byte stream into consecutive runs. */
class ByteWalk {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /**
   * Yield the next `length` bytes in pieces. Callers must consume a run before they take the next one.
   * @throws ProjectArchiveError if the stream ends too early
   */
  async *take(length: number): AsyncGenerator<Uint8Array> {
    let left = length;
    while (left > 0) {
      if (this.#rest.length === 0) {
        const next = await this.#source.next();
        if (next.done === true) throw fault('it is truncated');
        this.#rest = next.value;
        continue;
      }
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  async end(): Promise<void> {
    await this.#source.return?.();
  }
}

async function requireBytes(walk: ByteWalk, expected: Buffer): Promise<void> {
  let at = 0;
  for await (const chunk of walk.take(expected.length)) {
    if (!expected.subarray(at, at + chunk.length).equals(chunk))
      throw fault('its zip directory does not match its list of files');
    at += chunk.length;
  }
}

async function readThrough(values: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of values);
}

/** Pass the bytes of a file through. At the end, throw if they do not match the digest in the list. */
async function* verified(file: ArchiveFile, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const digest = new Digest();
  for await (const chunk of bytes) {
    digest.add(chunk);
    yield chunk;
  }
  const { sha256, crc32 } = digest.end();
  if (sha256 !== file.sha256 || crc32 !== file.crc32)
    throw fault(`${file.path} does not match its digest in the list of files`);
}

/**
 * Check a document by the rules of the recording and of API requests, so no fault can appear after the first
 * record is written.
 */
async function checkDocument(
  archive: OpenArchive,
  file: ArchiveFile,
  bytes: AsyncIterable<Uint8Array>,
  deployment: Deployment,
): Promise<void> {
  const { placed } = file;
  switch (placed.of) {
    case 'project': {
      const { environment } = await readProject(archive, bytes);
      if (environment !== null) requireAllowed(file, environment, deployment);
      break;
    }
    case 'config':
      await readConfig(archive, bytes, file);
      break;
    case 'config-version':
      await checkConfigBytes(placed.config_id, bytes, file);
      break;
    case 'experiment-config':
      await checkExperimentConfig(archive, file, placed.number, bytes);
      break;
    case 'experiment': {
      const { environment } = await readExperiment(archive, bytes, file);
      requireAllowed(file, environment, deployment);
      break;
    }
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
    case 'report':
      await readReport(archive, bytes, file);
      break;
    case 'schedule': {
      const { inputs } = await readSchedule(archive, bytes, file);
      requireAllowed(file, inputs.environment, deployment);
      break;
    }
    case 'schedule-config': {
      const document = archive.contents.schedules[placed.number - 1]?.document ?? 0;
      const owner = fileAt(archive.files, document);
      const { inputs } = await readSchedule(archive, archive.read(document), owner);
      if (inputs.config_sha256 !== file.sha256)
        throw fault(`${owner.path}: inputs.config_sha256 is not the digest of ${file.path}`);
      await checkConfigBytes(inputs.config_id, bytes, file);
      break;
    }
    case 'versions':
      await readThrough(readVersions(archive, bytes, file));
      break;
    default:
      throw new Error(`${file.path} is not a document`);
  }
}

/** Check that this deployment allows the environment. @throws ProjectArchiveError */
function requireAllowed(file: ArchiveFile, environment: EnvironmentSpec, deployment: Deployment): void {
  const faults = deploymentFaults(environment, deployment);
  if (faults.length > 0)
    throw fault(...faults.map(({ name, message }) => `${file.path}: environment.${name} ${message}`));
}

async function checkExperimentConfig(
  archive: OpenArchive,
  file: ArchiveFile,
  number: number,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { files, contents } = archive;
  const document = contents.experiments[number - 1]?.document ?? 0;
  const { config_id } = await readExperiment(archive, archive.read(document), fileAt(files, document));
  await checkConfigBytes(config_id, bytes, file);
}

/** Keep a generator open when its reader stops early. */
const unclosed = (bytes: AsyncGenerator<Uint8Array>): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => ({ next: () => bytes.next() }),
});

/** Milliseconds between two writes of the progress. A crash loses at most this much work. */
const saveMilliseconds = 5000;
