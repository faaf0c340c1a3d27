import type * as z from 'zod';
import { configMaxBytes, oldestKept } from '../../data/config.ts';
import { isFinal } from '../../data/job-status.ts';
import { bytesOfFields, fieldsMaxBytes } from '../../data/tracking.ts';
import { parseCanonical } from '../canonical-json.ts';
import { ConfigDocument, ExperimentDocument, ModelDocument, ProjectDocument } from '../documents.ts';
import { lineMaxBytes, readLine, readPoint } from '../lines.ts';
import { fault } from '../project-archive-error.ts';
import { readLines } from '../read-lines.ts';
import { resolver, withTexts } from '../references.ts';
import type { ArchiveFile } from './archive-file.ts';
import type { Contents } from './contents.ts';
import type { OpenArchive } from './open-archive.ts';

/** Most bytes of a document, whose references may be longer than ids. */
const documentMaxBytes = 1_000_000;
const recordMaxBytes = 90_000;
/** Most bytes of what becomes one item, which takes 400 KB. */
const itemMaxBytes = 350_000;
/** In place of ids, which are as long. */
const anyId = '0'.repeat(26);

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

async function bytesOf(
  bytes: AsyncIterable<Uint8Array>,
  { path, size }: Pick<ArchiveFile, 'path' | 'size'>,
  most: number,
) {
  if (size > most) throw fault(`${path} has ${size} bytes; at most ${most} are allowed`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A document that fits a schema. @throws ProjectArchiveError */
export async function documentOf<S extends z.ZodType>(
  bytes: AsyncIterable<Uint8Array>,
  file: ArchiveFile,
  schema: S,
): Promise<z.output<S>> {
  const value = parseCanonical((await bytesOf(bytes, file, documentMaxBytes)).toString('utf8'), schema);
  if (value === undefined) throw fault(`${file.path} is not as this format has it`);
  return value;
}

/** `project.json`. @throws ProjectArchiveError */
export async function readProject(
  { files, contents }: OpenArchive,
  bytes: AsyncIterable<Uint8Array>,
): Promise<ProjectDocument> {
  const file = fileAt(files, contents.project);
  const value = await documentOf(bytes, file, ProjectDocument);
  const present = new Set(contents.uploads.map((index) => files[index]?.path));
  const named = [
    ...(value.source === null ? [] : [`sources/${value.source.sha256}`]),
    ...value.datasets.map(({ sha256 }) => `datasets/${sha256}`),
  ];
  for (const path of named)
    if (!present.has(path)) throw fault(`${path}, which the project names, is not contained`);
  const names = new Set(value.datasets.map(({ name }) => name));
  const variables = new Set(value.variables.map(({ name }) => name));
  const { variables: _, datasets, ...own } = value;
  if (sizeOf(own) > itemMaxBytes || sizeOf(value.variables) > itemMaxBytes)
    throw fault(`${file.path} holds more than a project may`);
  if (names.size < datasets.length || variables.size < value.variables.length)
    throw fault(`${file.path} names something twice`);
  return value;
}

/** The document of a configuration, of which each version that is kept is contained. @throws ProjectArchiveError */
export async function readConfig(
  { files, contents }: OpenArchive,
  bytes: AsyncIterable<Uint8Array>,
  file: ArchiveFile,
): Promise<ConfigDocument> {
  const value = await documentOf(bytes, file, ConfigDocument);
  const group = contents.configs.find(({ document }) => files[document] === file);
  const first = oldestKept(value);
  const versions = (group?.rest ?? []).map((index) => {
    const placed = files[index]?.placed;
    return placed?.of === 'config-version' ? placed.version : 0;
  });
  const isWhole = versions.every((version, index) => version === first + index);
  if (!isWhole || versions.length === 0 || versions.length !== value.version - first + 1)
    throw fault(`${file.path} lacks a version that it should have`);
  return value;
}

/** The bytes of a configuration. @throws ProjectArchiveError */
export const readConfigBytes = (
  bytes: AsyncIterable<Uint8Array>,
  file: Pick<ArchiveFile, 'path' | 'size'>,
): Promise<Buffer> => bytesOf(bytes, file, configMaxBytes);

/**
 * Check that the texts of a document refer to what is contained, and that it will not be larger than an item may be.
 * @returns the document with ids in the place of references, none of which is the one that it will be
 * @throws ProjectArchiveError
 */
export function requireReferences<T>(
  { experiments, models }: Contents,
  { path }: ArchiveFile,
  document: T,
): T {
  const [ofExperiments, ofModels] = [experiments, models].map((groups) => groups.map(() => anyId));
  const ids = { project_id: anyId, experiments: ofExperiments ?? [], models: ofModels ?? [] };
  const resolved = withTexts(document, resolver(ids));
  if (sizeOf(resolved) > itemMaxBytes) throw fault(`${path} holds more than one item may`);
  return resolved;
}

/** The document of an experiment. @throws ProjectArchiveError */
export async function readExperiment(
  { contents }: OpenArchive,
  bytes: AsyncIterable<Uint8Array>,
  file: ArchiveFile,
): Promise<ExperimentDocument> {
  const value = await documentOf(bytes, file, ExperimentDocument);
  const refuse = (what: string) => fault(`${file.path} ${what}`);
  const { kind, status, fields, rerun_of, continues_from, recorded_by, ...rest } = value;
  const mayBe = isFinal(status) || (kind === 'logged' && ['CREATED', 'RUNNING'].includes(status));
  if (!mayBe) throw refuse(`is a ${kind} experiment that is ${status}`);
  for (const number of [rerun_of, continues_from, recorded_by])
    if (number != null && number > contents.experiments.length)
      throw refuse(`refers to experiment ${number}, which is not contained`);
  const size =
    fields === null ? 0 : bytesOfFields({ ...requireReferences(contents, file, fields), version: 1 });
  if (sizeOf(rest) > recordMaxBytes || size > fieldsMaxBytes)
    throw refuse('holds more than an experiment may');
  return value;
}

/** The document of a logged model. @throws ProjectArchiveError */
export async function readModel(
  { contents }: OpenArchive,
  bytes: AsyncIterable<Uint8Array>,
  file: ArchiveFile,
): Promise<ModelDocument> {
  const value = await documentOf(bytes, file, ModelDocument);
  requireReferences(contents, file, value);
  if ((value.source_experiment ?? 0) > contents.experiments.length)
    throw fault(`${file.path} refers to experiment ${value.source_experiment}, which is not contained`);
  return value;
}

async function* parsed<T>(
  bytes: AsyncIterable<Uint8Array>,
  { path }: ArchiveFile,
  parse: (line: string) => T | undefined,
): AsyncGenerator<T> {
  let number = 0;
  for await (const line of readLines(bytes, lineMaxBytes)) {
    number += 1;
    const value = parse(line);
    if (value === undefined) throw fault(`line ${number} of ${path} is not as this format has it`);
    yield value;
  }
}

/** The points of an experiment. @throws ProjectArchiveError */
export const readPoints = (bytes: AsyncIterable<Uint8Array>, file: ArchiveFile) =>
  parsed(bytes, file, readPoint);
/** The lines of a log. @throws ProjectArchiveError */
export const readPrinted = (bytes: AsyncIterable<Uint8Array>, file: ArchiveFile) =>
  parsed(bytes, file, readLine);

/** A file of an archive by its index. */
export function fileAt(files: readonly ArchiveFile[], index: number): ArchiveFile {
  const file = files[index];
  if (file === undefined) throw new Error(`an archive without a file ${index}`);
  return file;
}
