import {
  CopyObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type ObjectIdentifier,
  type ObjectVersion,
  type S3Client,
} from '@aws-sdk/client-s3';

/**
 * Give every object of a bucket the content that it had at a time: remove the delete markers that came later, and copy
 * the earlier version over one that replaced it. Objects that came later stay. Nothing is lost, and a repeated call
 * continues after an interruption.
 * @returns undefined if the bucket has never kept versions
 */
export async function restoreBucket(
  client: S3Client,
  Bucket: string,
  to: Date,
  report: (restored: RestoredObjects) => void,
): Promise<RestoredObjects | undefined> {
  const { Status } = await client.send(new GetBucketVersioningCommand({ Bucket }));
  if (Status === undefined) return undefined;
  const restored: RestoredObjects = { undeleted: 0, copied: 0, tooLarge: [] };
  let markers: ObjectIdentifier[] = [];
  for await (const history of histories(client, Bucket)) {
    const { remove = [], copy } = stepsTo(history, to);
    markers.push(...remove);
    if (remove.length > 0) restored.undeleted += 1;
    if (copy !== undefined && (copy.Size ?? 0) > maxCopyBytes) restored.tooLarge.push(copy.Key ?? '');
    else if (copy !== undefined) {
      await copyOver(client, Bucket, copy);
      restored.copied += 1;
    }
    if (markers.length < maxAtOnce) continue;
    await removeMarkers(client, Bucket, markers);
    markers = [];
    report(restored);
  }
  if (markers.length > 0) await removeMarkers(client, Bucket, markers);
  return restored;
}

/** Objects that changed. */
export interface RestoredObjects {
  undeleted: number;
  copied: number;
  /** Keys of replaced objects that one copy of S3 cannot take. */
  tooLarge: string[];
}

/** Most bytes of one copy in S3. */
const maxCopyBytes = 5 * 2 ** 30;

/** Versions and delete markers of one key, the latest first. */
type History = readonly Entry[];
type Entry = ObjectVersion & { isMarker: boolean };

/** Yield the history of each key. */
async function* histories(client: S3Client, Bucket: string): AsyncGenerator<History> {
  const open = new Map<string | undefined, Entry[]>();
  let markers: { KeyMarker?: string; VersionIdMarker?: string } | undefined = {};
  while (markers !== undefined) {
    const page: ListObjectVersionsCommandOutput = await client.send(
      new ListObjectVersionsCommand({ Bucket, ...markers }),
    );
    const entries = [
      ...(page.Versions ?? []).map((one) => ({ ...one, isMarker: false })),
      ...(page.DeleteMarkers ?? []).map((one) => ({ ...one, isMarker: true })),
    ];
    for (const entry of entries) open.set(entry.Key, [...(open.get(entry.Key) ?? []), entry]);
    const { NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page;
    for (const [key, history] of open) {
      // The next page may begin with more versions of the key that this one ends with.
      if (key === KeyMarker) continue;
      open.delete(key);
      yield latestFirst(history);
    }
    markers =
      KeyMarker === undefined
        ? undefined
        : { KeyMarker, ...(VersionIdMarker !== undefined && { VersionIdMarker }) };
  }
  for (const history of open.values()) yield latestFirst(history);
}

const timeOf = ({ LastModified }: Entry): number => LastModified?.getTime() ?? 0;

/** Of a version and a delete marker of the same second, the version counts as later: S3 does not tell, and nothing is lost by that. */
const latestFirst = (history: History): History =>
  history.toSorted(
    (a, b) => Number(b.IsLatest === true) - Number(a.IsLatest === true) || timeOf(b) - timeOf(a),
  );

/** Return what gives an object the content of a time: delete markers to remove, or a version to copy. */
export function stepsTo(history: History, to: Date): { remove?: ObjectIdentifier[]; copy?: Entry } {
  const at = history.findIndex((entry) => timeOf(entry) <= to.getTime());
  const then = history[at];
  // It is unchanged, came later, or was deleted before.
  if (then === undefined || at === 0 || then.isMarker) return {};
  const later = history.slice(0, at);
  // An earlier call has copied it.
  if (later[0]?.ETag === then.ETag && later[0]?.Size === then.Size) return {};
  if (!later.every(({ isMarker }) => isMarker)) return { copy: then };
  return { remove: later.map(({ Key, VersionId }) => ({ Key, VersionId })) };
}

async function copyOver(client: S3Client, Bucket: string, { Key = '', VersionId }: Entry): Promise<void> {
  const path = Key.split('/').map(encodeURIComponent).join('/');
  const CopySource = `${Bucket}/${path}?versionId=${VersionId}`;
  await client.send(new CopyObjectCommand({ Bucket, Key, CopySource }));
}

/** Delete markers in one request of S3. */
const maxAtOnce = 1000;

async function removeMarkers(client: S3Client, Bucket: string, Objects: ObjectIdentifier[]): Promise<void> {
  for (let start = 0; start < Objects.length; start += maxAtOnce) {
    const Delete = { Objects: Objects.slice(start, start + maxAtOnce), Quiet: true };
    const { Errors: [first] = [] } = await client.send(new DeleteObjectsCommand({ Bucket, Delete }));
    if (first !== undefined)
      throw new Error(
        `storage did not restore ${first.Key ?? 'an object'}: ${first.Code ?? 'no reason given'}`,
      );
  }
}
