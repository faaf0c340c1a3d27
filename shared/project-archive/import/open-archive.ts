import { buffer } from 'node:stream/consumers';
import type { ObjectReader } from '../../aws/objects.ts';
import { maxConfigs } from '../../data/projects/config.ts';
import { maxReports } from '../../data/projects/report.ts';
import { maxSchedules } from '../../data/schedules/schedule.ts';
import { canonicalJson, parseCanonical } from '../canonical-json.ts';
import { Digest } from '../digest.ts';
import { readLines } from '../lines.ts';
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
import { firstHeaderBytes, layoutOf, sizeInHeader, type ZipLayout } from '../zip-layout.ts';

/** An archive with its parsed file list. Its size matches the list. */
export interface OpenArchive {
  files: readonly ArchiveFile[];
  layout: ZipLayout;
  contents: Contents;
  /** Read the bytes of a file. */
  read(index: number): AsyncIterable<Uint8Array>;
}

/** A file of an archive, and its role. */
export type ArchiveFile = IndexRow & { placed: Placed };

/** Contents of an archive, from its file list. */
export interface Contents {
  project: number;
  configs: Group[];
  uploads: number[];
  experiments: Group[];
  models: Group[];
  /** Registered models. The versions of each follow its document. */
  registered: Group[];
  reports: Group[];
  /** Schedules. The configuration of each follows its document. */
  schedules: Group[];
}

/** Files of one item, as indexes into the file list: its document, and the files that follow it. */
interface Group {
  document: number;
  rest: number[];
}

/**
 * Read the contents of an archive. The zip's own structures are not trusted: the file list determines every byte
 * outside the files, and these bytes are compared during reading.
 * @throws ProjectArchiveError
 */
export async function openArchive(objects: ObjectReader, object: string, size: number): Promise<OpenArchive> {
  const range = async (first: number, bytes: number) => {
    if (bytes === 0) return [];
    const stream = await objects.read(object, { first, last: first + bytes - 1 });
    // Another pass ended the import, or it expired. A missing object says nothing about the archive's contents.
    if (stream === undefined) throw fault('its upload no longer exists');
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
    if (row === undefined) throw fault(`line ${files.length + 1} of its list of files is invalid`);
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
    throw fault('its list of files does not match its digest in the manifest');

  const ofManifest = new Digest();
  ofManifest.add(Buffer.from(text));
  const layout = layoutOf([
    { path: manifestPath, ...ofManifest.end() },
    { path: indexPath, size: index.size, crc32 },
    ...files,
  ]);
  if (layout.size !== size) throw foreign();
  const starts = new Map(
    layout.segments.flatMap((segment) =>
      segment.of === 'entry' ? [[segment.index, segment.at] as const] : [],
    ),
  );
  const read = async function* (position: number): AsyncGenerator<Uint8Array> {
    const at = starts.get(position + filesBefore);
    const length = files[position]?.size ?? 0;
    if (at !== undefined) yield* await range(at, length);
  };
  return { files, layout, contents: contentsOf(files), read };
}

const foreign = () =>
  fault('it is not an unchanged archive of this service; edited or repacked archives cannot be imported');

function readManifest(text: string): Manifest {
  let format: unknown;
  try {
    format = Object(JSON.parse(text)).format;
  } catch {
    throw foreign();
  }
  if (typeof format === 'number' && Number.isSafeInteger(format) && format > archiveFormat)
    throw fault(
      `its format is ${format}, but this version of the service reads formats up to ${archiveFormat}`,
    );
  const manifest = parseCanonical(text, Manifest);
  if (manifest === undefined || canonicalJson(manifestOf(manifest.index, manifest.format)) !== text)
    throw foreign();
  return manifest;
}

const rowMaxBytes = 10_000;

/** Whether an archive of this format may contain such a file. */
const isInFormat = (format: ArchiveFormat, { of }: Placed): boolean => format >= (firstFormat[of] ?? 1);

const firstFormat: Partial<Record<Placed['of'], ArchiveFormat>> = {
  registered: 2,
  versions: 2,
  report: 3,
  schedule: 3,
  'schedule-config': 3,
};

/** Number of files before the listed ones: the manifest and the list. */
export const filesBefore = 2;

/**
 * Group the files of an archive. The order is fixed: the project, its configurations, sources and data sets, then
 * all experiments, logged models, registered models, reports and schedules one by one.
 * @throws ProjectArchiveError for another order, or a file that belongs to no item
 */
function contentsOf(files: readonly ArchiveFile[]): Contents {
  const contents: Contents = {
    project: 0,
    configs: [],
    uploads: [],
    experiments: [],
    models: [],
    registered: [],
    reports: [],
    schedules: [],
  };
  if (files[0]?.placed.of !== 'project') throw fault('it does not begin with a project');
  const ranks = {
    config: 1,
    upload: 2,
    experiment: 3,
    model: 4,
    registered: 5,
    report: 6,
    schedule: 7,
  } as const;
  const groupsOf = {
    experiment: contents.experiments,
    model: contents.models,
    registered: contents.registered,
    report: contents.reports,
    schedule: contents.schedules,
  } as const;
  const ownerOf = {
    'model-file': 'model',
    versions: 'registered',
    'schedule-config': 'schedule',
    'experiment-config': 'experiment',
    metrics: 'experiment',
    log: 'experiment',
    file: 'experiment',
  } as const;
  let rank = 0;
  let config_id = '';
  for (const [index, { path, placed }] of files.entries()) {
    if (index === 0) continue;
    const misplaced = () => fault(`${JSON.stringify(path.slice(0, 200))} is not allowed at its position`);
    const enter = (next: number) => {
      if (next < rank) throw misplaced();
      rank = next;
    };
    switch (placed.of) {
      case 'project':
        throw misplaced();
      case 'config':
        enter(ranks.config);
        config_id = placed.config_id;
        contents.configs.push({ document: index, rest: [] });
        break;
      case 'config-version':
        enter(ranks.config);
        if (placed.config_id !== config_id) throw misplaced();
        contents.configs.at(-1)?.rest.push(index);
        break;
      case 'upload':
        enter(ranks.upload);
        if (files[index]?.sha256 !== placed.sha256)
          throw fault(`the digest of ${path} does not match its name`);
        contents.uploads.push(index);
        break;
      case 'experiment':
      case 'model':
      case 'registered':
      case 'report':
      case 'schedule': {
        enter(ranks[placed.of]);
        const groups = groupsOf[placed.of];
        if (placed.number !== groups.length + 1) throw misplaced();
        groups.push({ document: index, rest: [] });
        break;
      }
      default: {
        const of = ownerOf[placed.of];
        enter(ranks[of]);
        const groups = groupsOf[of];
        if (placed.number !== groups.length || groups.length === 0) throw misplaced();
        groups.at(-1)?.rest.push(index);
      }
    }
  }
  if (contents.configs.length > maxConfigs)
    throw fault(`it has ${contents.configs.length} configurations; a project may have at most ${maxConfigs}`);
  for (const [name, most] of [
    ['reports', maxReports],
    ['schedules', maxSchedules],
  ] as const)
    if (contents[name].length > most)
      throw fault(`it has ${contents[name].length} ${name}; a project may have at most ${most}`);
  return contents;
}
