import { createHash } from 'node:crypto';
import * as z from 'zod';
import { ulidPattern } from '../../core/formats.ts';
import type { Artifact } from '../../data/experiments/artifact.ts';
import {
  clientObject,
  findClientArtifact,
  listClientArtifacts,
  removeClientArtifacts,
} from '../../data/experiments/client-artifact.ts';
import { announce } from '../../data/projects/purge.ts';
import { acceptArtifact, requireArtifactRoom } from '../../experiments/accept-artifact.ts';
import { Reply } from '../../http/definition/reply.ts';
import { purgeInRequest } from '../../purge/purge-in-request.ts';
import { requireModel } from '../logged-models/logged-model.ts';
import type { MlflowContext } from '../protocol/context.ts';
import { artifactUriOf, type RunKey } from '../protocol/ids.ts';
import { doesNotExist, invalidValue, mlflowError } from '../protocol/mlflow-error.ts';
import { allowing, answerJson, type Route, route } from '../protocol/route.ts';
import { int64, text } from '../protocol/scalars.ts';
import { numberOf, requireRegistered, requireVersion } from '../registry/find.ts';
import { requireRun, runIdField } from '../runs/find-run.ts';
import { listFolder, type Place, requireFilePlace, requirePlace, requireSafePath } from './artifact-home.ts';

const files = 'mlflow-artifacts/artifacts';

/** Maximum number of records that one transaction removes. */
const removedAtOnce = 40;
/** Maximum number of parts of one upload. Each has a URL of 1 KB in the response. */
const maxParts = 3000;

/** Artifact URI of a run without the scheme. */
const rootOfArtifacts = (key: RunKey): string => artifactUriOf(key).slice('mlflow-artifacts:/'.length);

const show = (folder: string, { name, size }: { name: string; size: number | null }): object => ({
  path: folder === '' ? name : `${folder}/${name}`,
  is_dir: size === null,
  ...(size !== null && { file_size: size }),
});

async function redirectTo(context: MlflowContext, place: Place) {
  const { records, objects } = context;
  const client = await findClientArtifact(records, place.home, place.path);
  if (client === undefined) throw doesNotExist(`There is no artifact ${place.path}`);
  const name = place.path.split('/').at(-1) ?? place.path;
  return Reply.redirect(await objects.presignDownload(client.object, name, client.media_type));
}

/** List the artifacts of a run, with paths relative to its root. */
const listOfRun = route(
  'GET mlflow/artifacts/list',
  z.object({ ...runIdField, path: text.optional(), page_token: text.optional() }),
  async ({ run_id, path = '' }, context) => {
    const { experiment } = await requireRun(context, run_id, 'viewer');
    const folder = path === '' ? '' : requireSafePath(path.replace(/\/$/, ''));
    const { project_id, experiment_id } = experiment;
    const entries = await listFolder(context, {
      home: { of: 'experiment', project_id, experiment_id },
      path: folder,
    });
    return { files: entries.map((entry) => show(folder, entry)), root_uri: artifactUriOf(experiment) };
  },
);

/** List the artifacts at an address below `mlflow-artifacts:/`, with names only. */
const list = route(`GET ${files}`, z.object({ path: text.min(1) }), async ({ path }, context) => {
  const entries = await listFolder(context, await requirePlace(context, path, 'viewer'));
  return { files: entries.map((entry) => show('', entry)) };
});

const download = route(
  `GET ${files}/{location+}`,
  z.object({ location: text }),
  async ({ location }, context) => redirectTo(context, await requireFilePlace(context, location, 'viewer')),
);

/** Download a file of a run, for MLflow's web UI. */
const getArtifact = route(
  'GET get-artifact',
  z.object({ run_id: text.optional(), run_uuid: text.optional(), path: text.min(1) }),
  async ({ run_id, run_uuid, path }, context) => {
    const { experiment } = await requireRun(context, run_id ?? run_uuid ?? '', 'viewer');
    const { project_id, experiment_id } = experiment;
    return redirectTo(context, {
      home: { of: 'experiment', project_id, experiment_id },
      path: requireSafePath(path),
    });
  },
);

/** Download a file of a logged model, for MLflow's web UI. */
const modelFile = route(
  'GET mlflow/logged-models/{model_id}/artifacts/files',
  z.object({ model_id: text.min(1), artifact_file_path: text.min(1) }),
  async ({ model_id: id, artifact_file_path }, context) => {
    const { project_id, model_id } = await requireModel(context, id, 'viewer');
    const home = { of: 'model', project_id, model_id } as const;
    return redirectTo(context, { home, path: requireSafePath(artifact_file_path) });
  },
);

/** Download a file of a model version, for MLflow's web UI. */
const versionFile = route(
  'GET model-versions/get-artifact',
  z.object({ name: text.min(1), version: text.min(1), path: text.min(1) }),
  async ({ name, version, path }, context) => {
    const model = await requireRegistered(context, name);
    const { location } = await requireVersion(context, model, numberOf(version));
    const [, root] = /^mlflow-artifacts:\/+(.+?)\/*$/.exec(location) ?? [];
    if (root === undefined)
      throw doesNotExist(`The files of ${name}, version ${version}, are not stored in this service`);
    return redirectTo(context, await requireFilePlace(context, `${root}/${requireSafePath(path)}`, 'viewer'));
  },
);

/** Upload a file to a run, for MLflow's web UI. */
const uploadToRun: Route = {
  method: 'POST',
  path: 'mlflow/upload-artifact',
  async handle(request, _variables, context) {
    const asked = (name: string): string => {
      const value = request.query.get(name) ?? '';
      if (value === '') throw mlflowError('INVALID_PARAMETER_VALUE', `Request must specify ${name}.`);
      return value;
    };
    const run_uuid = asked('run_uuid');
    const path = requireSafePath(asked('path'));
    const { bytes, mediaType } = request;
    if (bytes.length === 0) throw mlflowError('INVALID_PARAMETER_VALUE', 'Request must specify data.');
    const { experiment } = await requireRun(context, run_uuid, 'developer');
    const location = `${rootOfArtifacts(experiment)}/${path}`;
    await uploadBytes(context, await requireFilePlace(context, location, 'developer'), { bytes, mediaType });
    return answerJson({});
  },
};

const presigned = route(
  'GET mlflow-artifacts/presigned/{location+}',
  z.object({ location: text }),
  async ({ location }, context) => {
    const place = await requireFilePlace(context, location, 'viewer');
    const client = await findClientArtifact(context.records, place.home, place.path);
    if (client === undefined) throw doesNotExist(`There is no artifact ${place.path}`);
    const name = place.path.split('/').at(-1) ?? place.path;
    const { GET: url } = await context.objects.presignDownload(client.object, name, client.media_type);
    return { url, headers: {}, file_size: client.size };
  },
);

const upload: Route = {
  method: 'PUT',
  path: `${files}/{location+}`,
  async handle({ bytes, mediaType }, { location = '' }, context) {
    await uploadBytes(context, await requireFilePlace(context, location, 'developer'), { bytes, mediaType });
    return answerJson({});
  },
};

/** Remove a file, or a folder with all its files. */
const remove = route(
  `DELETE ${files}/{location+}`,
  z.object({ location: text }),
  async ({ location }, context) => {
    const { records } = context;
    const { home, path } = await requirePlace(context, location, 'developer');
    const single = path === '' ? undefined : await findClientArtifact(records, home, path);
    if (single !== undefined) {
      await purgeInRequest(context, await removeClientArtifacts(records, home, [single], context));
      return {};
    }
    for (;;) {
      const page = await listClientArtifacts(records, home, path === '' ? '' : `${path}/`, {
        limit: removedAtOnce,
      });
      if (page.items.length === 0) return {};
      await purgeInRequest(context, await removeClientArtifacts(records, home, page.items, context));
    }
  },
);

const inParts = { location: text, path: text.min(1) };
/**
 * Return the place of a file. Clients send the folder in the address. They send the file name, with or without a
 * path, in the body.
 */
const placeOf = (
  context: MlflowContext,
  { location, path }: { location: string; path: string },
): Promise<Place> => requireFilePlace(context, `${location}/${path.split('/').at(-1) ?? ''}`, 'developer');

const create = route(
  'POST mlflow-artifacts/mpu/create/{location+}',
  z.object({
    ...inParts,
    num_parts: int64
      .refine((value) => value >= 1 && value <= maxParts, `It must be from 1 to ${maxParts}.`)
      .default(1),
  }),
  async (input, context) => {
    const { upload_id, urls } = await beginParts(context, await placeOf(context, input), input.num_parts);
    return {
      upload_id,
      credentials: urls.map((url, index) => ({ url, part_number: index + 1, headers: {} })),
    };
  },
);

const complete = route(
  'POST mlflow-artifacts/mpu/complete/{location+}',
  z.object({
    ...inParts,
    upload_id: text.min(1),
    parts: z
      .array(z.object({ part_number: int64 }))
      .min(1)
      .max(maxParts),
  }),
  async (input, context) => {
    const numbers = input.parts.map(({ part_number }) => part_number);
    if (new Set(numbers).size < numbers.length)
      throw invalidValue('parts', numbers.slice(0, 10), 'one is named twice');
    const sorted = numbers.toSorted((a, b) => a - b);
    await completeParts(context, await placeOf(context, input), input.upload_id, sorted);
    return {};
  },
);

const abort = route(
  'POST mlflow-artifacts/mpu/abort/{location+}',
  z.object({ ...inParts, upload_id: text.min(1) }),
  async (input, context) => {
    await abortParts(context, await placeOf(context, input), input.upload_id);
    return {};
  },
);

/** Routes that only read. */
export const artifactReads: readonly Route[] = [listOfRun, list, download, getArtifact, presigned];

export const artifactRoutes: readonly Route[] = [
  ...allowing('read', [...artifactReads, modelFile]),
  // It first reads the registry, which belongs to no project.
  ...allowing('read', [versionFile], false),
  ...allowing('record', [uploadToRun, upload, create, complete, abort]),
  remove,
];

const mediaTypes = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/;
const anyBytes = 'application/octet-stream';

const requireRoom = (context: MlflowContext, { home }: Place, bytes: number): Promise<void> =>
  requireArtifactRoom(context, home.project_id, bytes);

/**
 * Record a file whose object has arrived.
 * @throws ServiceError `RESOURCE_DOES_NOT_EXIST` if it was not announced
 */
async function accept(
  context: MlflowContext,
  { home, path }: Place,
  stored: Omit<Artifact, 'path' | 'created_at'>,
): Promise<void> {
  const accepted = await acceptArtifact(context, home, { path, ...stored });
  if (accepted !== undefined || (await isStored(context, { home, path }, stored.object))) return;
  throw doesNotExist('There is no such upload: it was completed or aborted.');
}

/** Whether the file is this object: an earlier request recorded it, and its reply was lost or is under way. */
const isStored = async (
  { records }: MlflowContext,
  { home, path }: Place,
  object: string,
): Promise<boolean> => (await findClientArtifact(records, home, path))?.object === object;

/** Store the file in the request body. */
async function uploadBytes(
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

/** An upload id has two parts: our id, which names the object, and the upload id of storage. */
const separator = '.';
const uploadPattern = new RegExp(`^(${ulidPattern})[${separator}](.+)$`, 's');

function uploadOf({ home }: Place, upload_id: string): { object: string; uploadId: string } {
  const [, own, uploadId] = uploadPattern.exec(upload_id) ?? [];
  if (own === undefined || uploadId === undefined)
    throw invalidValue('upload_id', upload_id, 'it is not an upload');
  return { object: clientObject(home, own), uploadId };
}

/** Begin an upload with `parts` parts. */
async function beginParts(
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

/** Complete an upload of these parts. A repeated request records what an earlier one has completed. */
async function completeParts(
  context: MlflowContext,
  place: Place,
  upload_id: string,
  numbers: readonly number[],
): Promise<void> {
  const { objects, settings } = context;
  const { object, uploadId } = uploadOf(place, upload_id);
  if (await isStored(context, place, object)) return;
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

async function abortParts({ objects }: MlflowContext, place: Place, upload_id: string): Promise<void> {
  const { object, uploadId } = uploadOf(place, upload_id);
  await objects.abortParts(object, uploadId);
}
