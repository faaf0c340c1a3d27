import { buffer } from 'node:stream/consumers';
import type { ObjectHead, ObjectWriter } from '../../../shared/aws/objects.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { type CheckedProject, changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import {
  type Acceptable,
  findAcceptable,
  findUploadToReplace,
  joinParts,
  putUpload,
  type Upload,
  uploadObject,
} from '../../../shared/data/projects/upload.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import type { Ambient } from '../../../shared/http/definition/endpoint-context.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { refuseBytes } from './upload.ts';
import { headBytes } from './uploaded-format.ts';

/**
 * Make the uploaded object with this hash the current source or data set. If it is already current, change
 * nothing. For an upload in one piece, storage enforced hash and size on arrival. For an upload in parts, only the
 * size is checked here; readers verify the hash.
 */
export async function acceptUpload(
  { kind, name, sha256, format }: Acceptance,
  context: Accepting,
): Promise<Upload> {
  const { records, objects, now, settings } = context;
  const { project_id } = context.project;
  return changeInProject(context, async () => {
    const acceptable = await findAcceptable(records, kind, project_id, sha256);
    const object = uploadObject(kind, project_id, sha256);
    const { size, start } = await uploaded(objects, object, sha256, acceptable);
    const actualFormat = format(start);
    const previous = await findUploadToReplace(records, kind, project_id, name);
    requirePrecondition(context, previous?.version);
    if (previous?.sha256 === sha256 && previous.format === actualFormat) return previous;
    // The upload was not accepted within a day, so its removal has begun.
    if (acceptable === undefined) throw nothingUploaded();
    const version = (previous?.version ?? 0) + 1;
    const value = {
      project_id,
      name,
      sha256,
      size,
      format: actualFormat,
      updated_at: now().toISOString(),
      version,
    };
    const { projectBytes } = settings.limits;
    await putUpload(records, kind, value, previous, acceptable, projectBytes).catch(refuseBytes);
    return value;
  });
}

/** Target of an upload. */
interface Acceptance {
  kind: 'source' | 'dataset';
  /** `source`, or the name of the data set. */
  name: string;
  sha256: string;
  /** Return the format by the first bytes. Throw a problem for formats that are not allowed. */
  format(head: Buffer): Upload['format'];
}

type Accepting = Pick<Ambient, 'now' | 'header' | 'expectedVersion' | 'settings'> &
  CheckedProject & { records: TableWriter<'records'>; objects: ObjectWriter };

/** Return size and first bytes of the uploaded object. Throw a 409 problem if it was not uploaded. */
async function uploaded(
  objects: ObjectWriter,
  key: string,
  sha256: string,
  acceptable: Acceptable | undefined,
) {
  const parts = acceptable === 'accepted' ? undefined : acceptable?.parts;
  let head = await objects.head(key);
  if (parts != null && head?.sha256 !== sha256) {
    const missing = await joinParts(objects, key, parts);
    if (missing > 0)
      throw new ServiceError(
        'conflict',
        `${missing} ${missing === 1 ? 'part' : 'parts'} of the upload have not arrived. POST to this path returns their URLs.`,
      );
    head = await objects.head(key);
  }
  const isThere = head !== undefined && isUpload(head, sha256, acceptable);
  const stream = isThere ? await objects.read(key, { first: 0, last: headBytes - 1 }) : undefined;
  if (head === undefined || stream === undefined) {
    throw nothingUploaded();
  }
  return { size: head.size, start: await buffer(stream) };
}

/**
 * Whether the stored object is the upload. Storage knows the hash of an upload in one piece, but not of one in
 * parts.
 */
const isUpload = (
  { size, sha256 }: ObjectHead,
  wanted: string,
  acceptable: Acceptable | undefined,
): boolean => {
  if (sha256 !== undefined || acceptable === undefined) return sha256 === wanted;
  return acceptable === 'accepted' || acceptable.parts?.size === size;
};

const nothingUploaded = (): ServiceError =>
  new ServiceError(
    'conflict',
    'Nothing with this SHA-256 has been uploaded. Request an upload with POST to this path, send the bytes to the URL in the response, then repeat this request.',
  );
