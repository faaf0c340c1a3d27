import * as z from 'zod';
import { writeProjectObjects } from '../../../shared/aws/needs.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { clientObject, findClientArtifact } from '../../../shared/data/experiments/client-artifact.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { acceptArtifact } from '../../../shared/experiments/accept-artifact.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { mediaTypeOf } from '../../../shared/runner/outputs/upload/media-type.ts';
import { ArtifactAnswer, requireLogged, uploadedPath, uploadId } from './artifact.ts';

const nothingUploaded = (): ServiceError =>
  new ServiceError(
    'conflict',
    'Nothing has been uploaded under this upload_id. Request an upload with POST to this path, send the bytes to the URL in the response, then repeat this request.',
  );

export const endpoint = defineEndpoint({
  name: 'putArtifact',
  method: 'PUT',
  path: '/projects/{project_id}/experiments/{experiment_id}/artifacts/{path+}',
  summary: 'Make an uploaded file an artifact of a logged experiment',
  description: 'Replaces the artifact with the same path. A repeated request gets the same response.',
  allow: 'developer',
  project: 'developer',
  right: 'record',
  audit: { hourly: true },
  needs: { records: writeRecords, objects: writeProjectObjects },
  input: { path: uploadedPath, query: z.strictObject({ upload_id: uploadId }) },
  output: { 200: ArtifactAnswer },
  problems: ['conflict'],

  async handle({ path, query: { upload_id } }, context) {
    const { records, objects } = context;
    const home = await requireLogged(records, path);
    const object = clientObject(home, upload_id);
    const head = await objects.head(object);
    const { size = 0, sha256 } = head ?? {};
    // An object without a checksum was not uploaded through a URL of this service.
    const arrived =
      sha256 === undefined
        ? undefined
        : await acceptArtifact(context, home, {
            ...{ path: path.path, size, sha256, object },
            media_type: mediaTypeOf(path.path),
          });
    if (arrived !== undefined) return arrived;
    const present = await findClientArtifact(records, home, path.path);
    if (present?.object !== object) throw nothingUploaded();
    return present;
  },
});
