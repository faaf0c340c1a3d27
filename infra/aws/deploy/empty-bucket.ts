import {
  AbortMultipartUploadCommand,
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  type ObjectIdentifier,
  type S3Client,
} from '@aws-sdk/client-s3';

/**
 * Empty a bucket, so that it can be deleted: remove all versions of all objects, all delete markers, and the parts
 * of incomplete uploads.
 *
 * Each pass lists from the beginning, because removed versions no longer appear. So there is no state to store:
 * the next call continues after an interruption, and also finds new objects.
 */
export async function emptyBucket(
  client: S3Client,
  Bucket: string,
  report: (removed: Emptied) => void,
  pageSize = maxAtOnce,
): Promise<Emptied> {
  const removed: Emptied = { versions: 0, uploads: 0 };
  for (;;) {
    const page = await versionsIn(client, Bucket, pageSize);
    if (page.length === 0) break;
    await deleteVersions(client, Bucket, page);
    removed.versions += page.length;
    report(removed);
  }
  for (;;) {
    const { Uploads = [] } = await client.send(
      new ListMultipartUploadsCommand({ Bucket, MaxUploads: pageSize }),
    );
    if (Uploads.length === 0) return removed;
    for (const { Key, UploadId } of Uploads) {
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
      removed.uploads += 1;
    }
    report(removed);
  }
}

/** Progress of the removal. */
export interface Emptied {
  /** Versions of objects and delete markers. */
  versions: number;
  uploads: number;
}

/** Maximum number of versions in one delete request of S3, and in memory. */
const maxAtOnce = 1000;

async function versionsIn(client: S3Client, Bucket: string, MaxKeys: number): Promise<ObjectIdentifier[]> {
  const { Versions = [], DeleteMarkers = [] } = await client.send(
    new ListObjectVersionsCommand({ Bucket, MaxKeys }),
  );
  return [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId }));
}

async function deleteVersions(client: S3Client, Bucket: string, Objects: ObjectIdentifier[]): Promise<void> {
  const { Errors: [first] = [] } = await client.send(
    new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }),
  );
  if (first === undefined) return;
  throw new Error(`storage did not delete ${first.Key ?? 'an object'}: ${first.Code ?? 'no reason given'}`);
}
