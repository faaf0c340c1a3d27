import * as z from 'zod';
import { type MultipartUploads, type PresignedPart, partBytesFor, partsOf } from '../../aws/multipart.ts';
import type { ObjectReader } from '../../aws/objects.ts';
import { FileId, Sha256, Timestamp, Ulid } from '../../core/formats.ts';
import { ofVersion, recordType, unreadableVersion } from '../table/record.ts';
import {
  type Key,
  type Page,
  readPage,
  type TableReader,
  type TableWriter,
  type Write,
} from '../table/table.ts';
import { count, projectExists, projectPrefix, requireProjectBytes } from './project.ts';
import { acceptAnnounced, announce, type Purge, parsePurge, purgeKey, type UploadParts } from './purge.ts';

const upload = recordType('upload', () =>
  z.object({
    project_id: Ulid,
    /** `source`, or the name of the data set. */
    name: FileId,
    sha256: Sha256,
    size: z.number().int(),
    format: z.enum(['tar.gz', 'tar', 'zip', 'file']),
    updated_at: Timestamp,
    version: z.number().int(),
  }),
);
/** Current source of a project, or one of its named data sets. The hash identifies the version. */
export type Upload = z.infer<typeof upload.schema>;

/** Maximum bytes of one presigned PUT: the S3 limit of 5 GB. */
export const uploadMaxBytes = 5_000_000_000;
/** Maximum bytes of a multipart upload. It fits on a job's disk with room to work. */
export const partedMaxBytes = 100_000_000_000;

export const parseUpload = upload.parse;

export const uploadPartitions = (project_id: string): string[] => [
  `SOURCE#${project_id}`,
  datasetsPartition(project_id),
  blobsPartition(project_id),
];

const datasetsPartition = (project_id: string): string => `DATASETS#${project_id}`;

/**
 * Return the partition with one item per stored blob. With it, the bytes of a blob count only once, even if it
 * becomes current again.
 */
const blobsPartition = (project_id: string): string => `BLOBS#${project_id}`;

/** Return the bucket key of an uploaded archive. It contains the hash, so a version never changes. */
export const sourceObject = (project_id: string, sha256: string): string =>
  `${projectPrefix(project_id)}sources/${sha256}`;
export const datasetObject = (project_id: string, sha256: string): string =>
  `${projectPrefix(project_id)}datasets/${sha256}`;
/** Return the bucket key of the source or data set with this hash. */
export const uploadObject = (kind: 'source' | 'dataset', project_id: string, sha256: string): string =>
  kind === 'source' ? sourceObject(project_id, sha256) : datasetObject(project_id, sha256);

export const findSource = (
  records: TableReader<'records'>,
  project_id: string,
): Promise<Upload | undefined> => upload.find(records, sourceKey(project_id));

const sourceKey = (project_id: string): Key => ({ pk: `SOURCE#${project_id}`, sk: 'source' });

export const findDataset = (
  records: TableReader<'records'>,
  project_id: string,
  dataset: string,
): Promise<Upload | undefined> => upload.find(records, datasetKey(project_id, dataset));

const datasetKey = (project_id: string, dataset: string): Key => ({
  pk: datasetsPartition(project_id),
  sk: dataset,
});

/** Whether an upload of this hash was ever accepted. An accepted upload stays as long as the project. */
export async function isAccepted(
  records: TableReader<'records'>,
  kind: 'source' | 'dataset',
  project_id: string,
  sha256: string,
): Promise<boolean> {
  return (await records.get(blobKey(kind, project_id, sha256))) !== undefined;
}

const blobKey = (kind: 'source' | 'dataset', project_id: string, sha256: string): Key => ({
  pk: blobsPartition(project_id),
  sk: `${kind}#${sha256}`,
});

/** Return a page of the digests of accepted uploads of a kind, in ascending order. */
export async function listAccepted(
  records: TableReader<'records'>,
  kind: 'source' | 'dataset',
  project_id: string,
  page: { limit: number; after: string | undefined },
): Promise<Page<string>> {
  const prefix = blobKey(kind, project_id, '').sk;
  const after = page.after === undefined ? undefined : `${prefix}${page.after}`;
  const { items, next } = await records.query({
    pk: blobsPartition(project_id),
    prefix,
    limit: page.limit,
    after,
  });
  return { items: items.map(({ sk }) => sk.slice(prefix.length)), next: next?.slice(prefix.length) };
}

/** Build the write that records an accepted upload of an imported project. */
export const putAccepted = (
  kind: 'source' | 'dataset',
  project_id: string,
  sha256: string,
  size: number,
): Write => ({
  put: { ...blobKey(kind, project_id, sha256), record_type: 'blob', schema_version: 0, size },
});

/** Build the write that records the current source or data set version of an imported project. */
export const putCurrent = (kind: 'source' | 'dataset', value: Upload): Write => ({
  put: upload.item(uploadKey(kind, value.project_id, value.name), value),
});

const uploadKey = (kind: 'source' | 'dataset', project_id: string, name: string): Key =>
  kind === 'source' ? sourceKey(project_id) : datasetKey(project_id, name);

/**
 * Announce an upload. It is removed unless it is accepted within a day. Accepted uploads stay. An announced
 * multipart upload continues.
 * @param startParts begins a multipart upload; absent for an upload in one piece
 * @param isGivenUp whether the parts of the earlier upload are lost
 * @returns the multipart upload; null for one piece; `accepted` if nothing needs to be sent
 * @throws ProjectBytesError if it does not fit into the project
 * @throws ConditionFailedError if an earlier upload of the same bytes is being removed, or the project is gone
 */
export async function announceUpload(
  records: TableWriter<'records'>,
  kind: 'source' | 'dataset',
  { project_id, sha256, size }: Pick<Upload, 'project_id' | 'sha256' | 'size'>,
  {
    maxBytes,
    now,
    startParts,
    isGivenUp = async () => false,
  }: {
    maxBytes: number;
    now: Date;
    startParts?: () => Promise<UploadParts>;
    isGivenUp?: (parts: UploadParts) => Promise<boolean>;
  },
): Promise<UploadParts | null | 'accepted'> {
  const blob = blobKey(kind, project_id, sha256);
  const object = uploadObject(kind, project_id, sha256);
  const [accepted, item] = await records.batchGet([blob, purgeKey(object)]);
  if (accepted !== undefined) return 'accepted';
  await requireProjectBytes(records, project_id, size, maxBytes);
  const earlier = item && parsePurge(item);
  const known = announcedParts(earlier);
  // Parts of another size hold other bytes, even if the announced hash is the same.
  const goesOn = known?.size === size && !(await isGivenUp(known));
  const parts = goesOn ? known : ((await startParts?.()) ?? known);
  // If two uploads begin at once, the second continues with the parts of the first.
  const since = parts === known ? undefined : (earlier ?? null);
  await records.write(
    projectExists(project_id),
    announce({ of: 'project', object, blob, parts }, now, since),
  );
  return startParts === undefined ? null : parts;
}

/**
 * Whether storage has dropped the parts, as it does some days after the start of an upload. False if the parts
 * were already joined.
 */
export async function isGivenUp(
  objects: Pick<MultipartUploads, 'missingParts'> & Pick<ObjectReader, 'head'>,
  object: string,
  { upload_id, part_bytes, size }: UploadParts,
): Promise<boolean> {
  const missing = await objects.missingParts(object, upload_id, partsOf(size, part_bytes));
  return missing === undefined && (await objects.head(object))?.size !== size;
}

/** Return the multipart upload of an announcement. Return null if it has none. */
function announcedParts(earlier: Purge | undefined): UploadParts | null {
  const announced = earlier?.target.announced;
  return announced?.of === 'project' ? announced.parts : null;
}

/** Upload that is already accepted, or that can be accepted, with the time of its announcement and its parts. */
export type Acceptable = 'accepted' | { announced_at: string; parts: UploadParts | null };

/**
 * Return whether an upload is accepted or can be accepted. Call this before the object is read: then the object
 * belongs to this announcement. Return undefined if no upload was announced, or it is being removed.
 */
export async function findAcceptable(
  records: TableReader<'records'>,
  kind: 'source' | 'dataset',
  project_id: string,
  sha256: string,
): Promise<Acceptable | undefined> {
  const announced = purgeKey(uploadObject(kind, project_id, sha256));
  const [blob, item] = await records.batchGet([blobKey(kind, project_id, sha256), announced]);
  if (blob !== undefined) return 'accepted';
  const upload = item && parsePurge(item);
  return upload === undefined || upload.removing_at !== undefined
    ? undefined
    : { announced_at: upload.created_at, parts: announcedParts(upload) };
}

/** Return the source or data set that will be replaced, even if it is unreadable. */
export async function findUploadToReplace(
  records: TableReader<'records'>,
  kind: 'source' | 'dataset',
  project_id: string,
  name: string,
): Promise<Upload | undefined> {
  const item = await records.get(uploadKey(kind, project_id, name));
  const unreadable = '';
  const standIn = { project_id, name, sha256: unreadable, size: 0, format: 'file' as const };
  return item && upload.salvage(item, { ...standIn, updated_at: unreadable, version: unreadableVersion });
}

/** Return a page of the data sets of a project, by name. */
export async function listDatasets(
  records: TableReader<'records'>,
  project_id: string,
  page: { limit?: number; after: string | undefined },
): Promise<Page<Upload>> {
  return readPage(await records.query({ pk: datasetsPartition(project_id), ...page }), upload.parse);
}

/**
 * Make an uploaded object the current source or the current version of a data set. Throw `ConditionFailedError` if
 * another version or the project's delete came between, or if the upload was accepted, removed or announced again
 * since the check.
 * @param maxBytes maximum bytes of the project, including this upload
 * @throws ProjectBytesError if the project would exceed it
 */
export async function putUpload(
  records: TableWriter<'records'>,
  kind: 'source' | 'dataset',
  value: Upload,
  previous: Upload | undefined,
  acceptable: Acceptable,
  maxBytes: number,
): Promise<void> {
  const { project_id, name, sha256, size } = value;
  const blob = blobKey(kind, project_id, sha256);
  const isNew = acceptable !== 'accepted';
  if (isNew) await requireProjectBytes(records, project_id, size, maxBytes);
  await records.write(
    projectExists(project_id),
    {
      put: upload.item(uploadKey(kind, project_id, name), value),
      if: previous === undefined ? { exists: false } : ofVersion(previous.version),
    },
    ...(isNew
      ? [
          { put: { ...blob, record_type: 'blob', schema_version: 0, size }, if: { exists: false } },
          count(project_id, { objects: 1, bytes: size }, maxBytes),
          acceptAnnounced(uploadObject(kind, project_id, sha256), acceptable.announced_at),
        ]
      : []),
  );
}

/** Run work that may begin a multipart upload. Abort the upload if the work fails, because no record names it. */
export async function withNewParts<T>(
  objects: Pick<MultipartUploads, 'startParts' | 'abortParts'>,
  { object, size }: { object: string; size: number },
  work: (startParts: () => Promise<UploadParts>) => Promise<T>,
): Promise<T> {
  const begun: string[] = [];
  try {
    return await work(async () => {
      const upload_id = await objects.startParts(object);
      begun.push(upload_id);
      return { upload_id, part_bytes: partBytesFor(size), size };
    });
  } catch (error) {
    for (const upload_id of begun) await objects.abortParts(object, upload_id);
    throw error;
  }
}

/** Presign URLs for the parts that have not arrived. Return none if the parts are already joined. */
export async function missingParts(
  objects: Pick<MultipartUploads, 'missingParts' | 'presignParts'>,
  object: string,
  { upload_id, part_bytes, size }: UploadParts,
): Promise<PresignedPart[]> {
  const missing = await objects.missingParts(object, upload_id, partsOf(size, part_bytes));
  return objects.presignParts(object, upload_id, missing ?? []);
}

/**
 * Join the parts of an upload, if all have arrived.
 * @returns the number of parts that have not arrived; also 0 if the parts are already joined
 */
export async function joinParts(
  objects: Pick<MultipartUploads, 'completeParts'>,
  object: string,
  { upload_id, part_bytes, size }: UploadParts,
): Promise<number> {
  const missing = await objects.completeParts(object, upload_id, partsOf(size, part_bytes));
  return missing?.length ?? 0;
}
