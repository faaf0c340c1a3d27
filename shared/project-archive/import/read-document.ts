import * as z from 'zod';
import { checkConfigFile } from '../../config/check-config-file.ts';
import { configFormat } from '../../config/parse-config-file.ts';
import { ServiceError } from '../../core/service-error.ts';
import {
  faultOfModel,
  LoggedModelName,
  maxRegistryItem,
  RegistryDescription,
  RegistryTag,
} from '../../data/experiments/logged-model-rules.ts';
import { bytesOfFields, fieldsMaxBytes } from '../../data/experiments/tracking.ts';
import {
  AnyExperimentName,
  AnyNote,
  AnyParams,
  AnyTags,
  AnyTrackedName,
  DatasetRule,
  GitRule,
  ModelValues,
  maxLinks,
  Step,
  TaggedName,
} from '../../data/experiments/tracking-rules.ts';
import { isFinal } from '../../data/jobs/job-status.ts';
import { configMaxBytes, oldestKept } from '../../data/projects/config.ts';
import { ArtifactPath } from '../../data/projects/upload-rules.ts';
import { splitTexts } from '../../experiments/dataset-texts.ts';
import { faultsOf, readCanonical } from '../canonical-json.ts';
import {
  ConfigDocument,
  ExperimentDocument,
  ModelDocument,
  ProjectDocument,
  RegisteredDocument,
  ScheduleDocument,
  VersionDocument,
} from '../documents.ts';
import { lineMaxBytes, readLine, readLines, readPoint } from '../lines.ts';
import { fault, maxFaults } from '../project-archive-error.ts';
import { type Ids, resolver, withTexts } from '../references.ts';
import type { ArchiveFile, Contents, OpenArchive } from './open-archive.ts';

/** Read `project.json`. @throws ProjectArchiveError */
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
    if (!present.has(path)) throw fault(`${path} is missing, but the project refers to it`);
  if (value.baseline !== undefined && value.baseline > contents.experiments.length)
    throw fault(`${file.path} refers to experiment ${value.baseline}, which is missing`);
  const { variables: _, datasets: __, ...own } = value;
  if (sizeOf(own) > itemMaxBytes) throw fault(`${file.path} exceeds the limits of a project`);
  return value;
}

/** Return a file of an archive by its index. */
export function fileAt(files: readonly ArchiveFile[], index: number): ArchiveFile {
  const file = files[index];
  if (file === undefined) throw new Error(`an archive without a file ${index}`);
  return file;
}

/** Read a document and check it with a schema. @throws ProjectArchiveError */
export async function documentOf<S extends z.ZodType>(
  bytes: AsyncIterable<Uint8Array>,
  file: ArchiveFile,
  schema: S,
  maxBytes = documentMaxBytes,
): Promise<z.output<S>> {
  const text = (await bytesOf(bytes, file, maxBytes)).toString('utf8');
  const read = readCanonical(text, schema);
  if ('value' in read) return read.value;
  const notThis = `${file.path} does not match this format`;
  throw fault(...(read.faults.length === 0 ? [notThis] : read.faults.map((one) => `${notThis}: ${one}`)));
}

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

/** Maximum bytes of a document. References may be longer than ids. */
const documentMaxBytes = 1_000_000;
/** The same for an experiment, whose data sets may have long texts. */
const experimentMaxBytes = 9_000_000;

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Maximum bytes of a value that becomes one item. An item holds 400 KB. */
const itemMaxBytes = 350_000;

/**
 * Read the document of a configuration, and check that the archive contains each kept version.
 * @throws ProjectArchiveError
 */
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
    throw fault(`${file.path} lacks a version`);
  if (file.placed.of === 'config' && configFormat(file.placed.config_id) !== value.format)
    throw fault(`${file.path} does not match the format of its name`);
  return value;
}

/** Read the bytes of a configuration. @throws ProjectArchiveError */
export const readConfigBytes = (
  bytes: AsyncIterable<Uint8Array>,
  file: Pick<ArchiveFile, 'path' | 'size'>,
): Promise<Buffer> => bytesOf(bytes, file, configMaxBytes);

/**
 * Read the bytes of a configuration, and check that a request to store it would succeed.
 * @throws ProjectArchiveError
 */
export async function checkConfigBytes(
  config_id: string | null,
  bytes: AsyncIterable<Uint8Array>,
  file: Pick<ArchiveFile, 'path' | 'size'>,
): Promise<void> {
  const content = await readConfigBytes(bytes, file);
  if (config_id === null) throw fault(`${file.path} belongs to an experiment without a configuration`);
  try {
    await checkConfigFile(config_id, content);
  } catch (error) {
    const isRefused = error instanceof ServiceError && error.kind !== 'unavailable';
    if (!isRefused) throw error;
    const messages = error.errors.map(({ message }) => message);
    throw fault(...(messages.length === 0 ? [error.message] : messages).map((one) => `${file.path} ${one}`));
  }
}

/** Read the document of an experiment. @throws ProjectArchiveError */
export async function readExperiment(
  { contents }: OpenArchive,
  bytes: AsyncIterable<Uint8Array>,
  file: ArchiveFile,
): Promise<ExperimentDocument> {
  const value = await documentOf(bytes, file, ExperimentDocument, experimentMaxBytes);
  const refuse = (what: string) => fault(`${file.path} ${what}`);
  const { kind, status, fields, rerun_of, continues_from, recorded_by, ...rest } = value;
  const mayBe = isFinal(status) || (kind === 'logged' && ['CREATED', 'RUNNING'].includes(status));
  if (!mayBe) throw refuse(`is a ${kind} experiment that is ${status}`);
  for (const number of [rerun_of, continues_from, recorded_by])
    if (number != null && number > contents.experiments.length)
      throw refuse(`refers to experiment ${number}, which is missing`);
  const resolved = fields === null ? null : requireReferences(contents, file, fields, fieldsRecord);
  const size = resolved === null ? 0 : bytesOfFields({ ...fieldsRecord(resolved), version: 1 });
  if (sizeOf(rest) > recordMaxBytes || size > fieldsMaxBytes)
    throw refuse('exceeds the limits of an experiment');
  if (resolved !== null) requireRules(file, 'fields.', resolved, FieldsRules);
  return value;
}

/**
 * Check that the texts of a document only refer to items in the archive, and that the resolved document fits into
 * an item.
 * @returns the document with placeholder ids in place of references
 * @throws ProjectArchiveError
 */
function requireReferences<T>(
  contents: Contents,
  { path }: ArchiveFile,
  document: T,
  recordOf: (resolved: T) => unknown = (resolved) => resolved,
): T {
  const resolved = withTexts(document, resolver(placeholdersOf(contents), path));
  if (sizeOf(recordOf(resolved)) > itemMaxBytes) throw fault(`${path} exceeds the limit of one item`);
  return resolved;
}

/** The record of fields: long texts of data sets are an object beside it. @throws ProjectArchiveError */
function fieldsRecord(fields: Fields): Fields {
  if (fields.datasets === undefined) return fields;
  try {
    return { ...fields, datasets: splitTexts(fields.datasets).recorded };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw fault(...error.errors.map(({ message }) => `its fields ${message}`));
  }
}

type Fields = NonNullable<ExperimentDocument['fields']>;

/** Ids that the documents of an archive may refer to, as placeholders of the same length. */
export const placeholdersOf = ({ experiments, models }: Contents): Ids => ({
  project_id: anyId,
  experiments: experiments.map(() => anyId),
  models: models.map(() => anyId),
});
const anyId = '0'.repeat(26);

const recordMaxBytes = 90_000;

/** Check a document, with ids in place of references. @throws ProjectArchiveError if a rule refuses it */
function requireRules(
  file: Pick<ArchiveFile, 'path'>,
  place: string,
  value: unknown,
  rules: z.ZodType,
): void {
  const { error } = rules.safeParse(value);
  if (error !== undefined) throw fault(...faultsOf(error).map((one) => `${file.path}: ${place}${one}`));
}

// Rules for fields that people and programs wrote, with ids in place of references. They only check the fields
// that they name; the document's own schema checks the others.

const Links = z.array(z.looseObject({ model_id: z.string().min(1), step: Step })).max(maxLinks);

const FieldsRules = z.looseObject({
  name: AnyExperimentName,
  note: AnyNote.nullable(),
  tags: AnyTags,
  params: AnyParams,
  git: GitRule.nullable(),
  datasets: z.array(DatasetRule).max(maxLinks).optional(),
  models_read: Links.optional(),
  models_made: Links.optional(),
});

/** Read the document of a logged model. @throws ProjectArchiveError */
export async function readModel(
  { contents }: OpenArchive,
  bytes: AsyncIterable<Uint8Array>,
  file: ArchiveFile,
): Promise<ModelDocument> {
  const value = await documentOf(bytes, file, ModelDocument);
  requireRules(file, '', requireReferences(contents, file, value), ModelRules);
  if ((value.source_experiment ?? 0) > contents.experiments.length)
    throw fault(`${file.path} refers to experiment ${value.source_experiment}, which is missing`);
  return value;
}

const ModelRules = z
  .looseObject({
    name: LoggedModelName,
    folder: ArtifactPath.optional(),
    params: ModelValues,
    tags: ModelValues,
    metrics: z.array(z.looseObject({ name: AnyTrackedName, step: Step.nullable() })),
  })
  .superRefine((model, context) => {
    const message = faultOfModel(model);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

/** Read the points of an experiment. @throws ProjectArchiveError */
export const readPoints = (bytes: AsyncIterable<Uint8Array>, file: ArchiveFile) =>
  parsed(bytes, file, readPoint);

async function* parsed<T>(
  bytes: AsyncIterable<Uint8Array>,
  { path }: ArchiveFile,
  parse: (line: string) => T | undefined,
): AsyncGenerator<T> {
  let number = 0;
  const faults: string[] = [];
  for await (const line of readLines(bytes, lineMaxBytes)) {
    number += 1;
    const value = parse(line);
    if (value !== undefined) yield value;
    else faults.push(`line ${number} of ${path} does not match this format`);
    if (faults.length > maxFaults) break;
  }
  if (faults.length > 0) throw fault(...faults);
}

/** Read the lines of a log. @throws ProjectArchiveError */
export const readPrinted = (bytes: AsyncIterable<Uint8Array>, file: ArchiveFile) =>
  parsed(bytes, file, readLine);

/** Read the versions of a registered model, in ascending order. @throws ProjectArchiveError */
export async function* readVersions(
  { contents }: OpenArchive,
  bytes: AsyncIterable<Uint8Array>,
  file: ArchiveFile,
): AsyncGenerator<VersionDocument> {
  let last = 0;
  for await (const line of readLines(bytes, versionMaxBytes)) {
    const read = readCanonical(line, VersionDocument);
    const notThis = `the line after version ${last} in ${file.path} does not match this format`;
    if ('faults' in read && read.faults.length > 0)
      throw fault(...read.faults.map((one) => `${notThis}: ${one}`));
    if ('faults' in read || read.value.number <= last) throw fault(notThis);
    const { value } = read;
    // A user name never contains references.
    const { user: _, ...said } = value;
    const resolved = requireReferences(contents, file, said);
    requireRules(file, `version ${value.number}: `, resolved, RegistryRules);
    last = value.number;
    yield value;
  }
}

/** Maximum bytes of a line. References may be longer than ids. */
const versionMaxBytes = 1_000_000;

const isWithinItem = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) <= maxRegistryItem;

/** Rules of a registered model, and of a version. */
const RegistryRules = z
  .looseObject({ description: RegistryDescription, tags: z.record(TaggedName, RegistryTag) })
  .refine(isWithinItem, `has more than ${maxRegistryItem} bytes`);

/**
 * Read the document of a registered model. Its aliases must refer to versions in the archive.
 * @throws ProjectArchiveError
 */
export async function readRegistered(
  archive: OpenArchive,
  bytes: AsyncIterable<Uint8Array>,
  file: ArchiveFile,
): Promise<RegisteredDocument> {
  const { files, contents } = archive;
  const value = await documentOf(bytes, file, RegisteredDocument);
  const { name: _, aliases, ...said } = value;
  requireRules(file, '', requireReferences(contents, file, said), RegistryRules);
  const [versions] = contents.registered.find(({ document }) => files[document] === file)?.rest ?? [];
  const isEmpty = versions === undefined || fileAt(files, versions).size === 0;
  if (isEmpty) throw fault(`${file.path} has no versions`);
  const aliased = new Set(Object.values(aliases));
  for await (const { number } of readVersions(archive, archive.read(versions), fileAt(files, versions)))
    aliased.delete(number);
  if (aliased.size > 0) throw fault(`${file.path} has an alias of a missing version`);
  return value;
}

/** Read the document of a schedule. Its runs need its configuration and the source that it names. @throws ProjectArchiveError */
export async function readSchedule(
  { files, contents }: OpenArchive,
  bytes: AsyncIterable<Uint8Array>,
  file: ArchiveFile,
): Promise<ScheduleDocument> {
  const value = await documentOf(bytes, file, ScheduleDocument);
  if (sizeOf(value) > itemMaxBytes) throw fault(`${file.path} exceeds the limit of one item`);
  const { source_sha256 } = value.inputs;
  const path = `sources/${source_sha256}`;
  if (source_sha256 !== null && !contents.uploads.some((index) => files[index]?.path === path))
    throw fault(`${path} is missing, but ${file.path} refers to it`);
  const group = contents.schedules.find(({ document }) => files[document] === file);
  if (group?.rest.length === 0) throw fault(`${file.path} lacks its configuration`);
  return value;
}
