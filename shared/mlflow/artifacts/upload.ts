import { createHash } from 'node:crypto';
import { ulidPattern } from '../../core/formats.ts';
import type { Artifact } from '../../data/experiments/artifact.ts';
import { clientObject } from '../../data/experiments/client-artifact.ts';
import { announce } from '../../data/projects/purge.ts';
import { acceptArtifact, requireArtifactRoom } from '../../experiments/accept-artifact.ts';
import type { MlflowContext } from '../protocol/context.ts';
import { doesNotExist, invalidValue } from '../protocol/mlflow-error.ts';
import type { Place } from './artifact-home.ts';

const mediaTypes = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/;
const anyBytes = 'application/octet-stream';

const requireRoom = (context: MlflowContext, { home }: Place, bytes: number): Promise<void> =>
  requireArtifactRoom(context, home.project_id, bytes);

/** Record a file whose object has arrived. @throws ServiceError `RESOURCE_DOES_NOT_EXIST` where it was not announced */
async function accept(
  context: MlflowContext,
  { home, path }: Place,
  stored: Omit<Artifact, 'path' | 'created_at'>,
): Promise<void> {
  const accepted = await acceptArtifact(context, home, { path, ...stored });
  if (accepted === undefined) throw doesNotExist('There is no such upload: it was completed or aborted.');
}

/** Store a file that came with the request. */
export async function uploadBytes(
  context: MlflowContext,
  place: Place,
  { bytes, mediaType }: { bytes: Uint8Array; mediaType: string },
): Promise<void> {
  const { records, objects, newId, now } = context;
  await requireRoom(context, place, bytes.length);
  const object = clientObject(place.home, newId());
  const [sent = ''] = mediaType.split(';');
  const media_type = mediaTypes.test(sent) ? sent : anyBytes;
  await records.write(announce({ of: 'artifact', object, upload_id: null }, now()));
  await objects.put(object, bytes, media_type);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await accept(context, place, { object, size: bytes.length, sha256, media_type });
}

/** Ids of an upload in parts: ours, which names its object, and that of storage. */
const separator = '.';
const uploadPattern = new RegExp(`^(${ulidPattern})[${separator}](.+)$`, 's');

function uploadOf({ home }: Place, upload_id: string): { object: string; uploadId: string } {
  const [, own, uploadId] = uploadPattern.exec(upload_id) ?? [];
  if (own === undefined || uploadId === undefined)
    throw invalidValue('upload_id', upload_id, 'it is no upload');
  return { object: clientObject(home, own), uploadId };
}

/** Begin an upload in so many parts. */
export async function beginParts(
  context: MlflowContext,
  place: Place,
  parts: number,
): Promise<{ upload_id: string; urls: string[] }> {
  const { records, objects, newId, now } = context;
  await requireRoom(context, place, 1);
  const own = newId();
  const object = clientObject(place.home, own);
  const uploadId = await objects.startParts(object);
  await records.write(announce({ of: 'artifact', object, upload_id: uploadId }, now()));
  const urls = await objects.presignAnyParts(object, uploadId, parts);
  return { upload_id: `${own}${separator}${uploadId}`, urls };
}

/** Complete an upload of these parts. A repetition of one that was completed finds its object and records it. */
export async function completeParts(
  context: MlflowContext,
  place: Place,
  upload_id: string,
  numbers: readonly number[],
): Promise<void> {
  const { objects, settings } = context;
  const { object, uploadId } = uploadOf(place, upload_id);
  const completed = await objects.completeAnyParts(object, uploadId, numbers, settings.limits.projectBytes);
  if (completed !== undefined && 'missing' in completed)
    throw invalidValue('parts', completed.missing.slice(0, 10), 'these have not arrived');
  if (completed !== undefined && 'tooLarge' in completed) {
    await objects.abortParts(object, uploadId);
    await requireRoom(context, place, completed.tooLarge);
  }
  const size =
    completed === undefined
      ? (await objects.head(object))?.size
      : 'bytes' in completed
        ? completed.bytes
        : undefined;
  if (size === undefined) throw doesNotExist('There is no such upload: it was aborted.');
  await requireRoom(context, place, size);
  await accept(context, place, { object, size, sha256: null, media_type: anyBytes });
}

export async function abortParts({ objects }: MlflowContext, place: Place, upload_id: string): Promise<void> {
  const { object, uploadId } = uploadOf(place, upload_id);
  await objects.abortParts(object, uploadId);
}
