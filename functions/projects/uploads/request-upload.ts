import { writeProjectObjects } from '../../../shared/aws/needs.ts';
import { uploadSeconds } from '../../../shared/aws/upload-seconds.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import {
  announceUpload,
  isGivenUp,
  missingParts,
  uploadMaxBytes,
  uploadObject,
  withNewParts,
} from '../../../shared/data/projects/upload.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { datasetPath, refuseBytes, UploadTicket, uploadRequest } from './upload.ts';

const resources = {
  source: {
    name: 'requestSourceUpload',
    path: '/projects/{project_id}/source',
    parameters: projectPath,
    summary: 'Get an upload URL for a source archive',
    file: 'archive',
  },
  dataset: {
    name: 'requestDatasetUpload',
    path: '/projects/{project_id}/datasets/{dataset}',
    parameters: datasetPath,
    summary: 'Get an upload URL for a data set',
    file: 'file',
  },
} as const;

/** The endpoint that requests an upload of a source or a data set. */
export function requestUploadEndpoint<K extends keyof typeof resources>(kind: K) {
  const { name, path, parameters, summary, file } = resources[kind];
  return defineEndpoint({
    name,
    method: 'POST',
    path,
    summary,
    description: `Send the ${file} with the method, the URL and exactly the headers of the response; storage refuses other bytes. Above 5 GB, or with \`multipart\`, send each part of \`parts\` separately. A repeated request returns the missing parts. A training refuses a file whose parts together do not match \`sha256\`. Then PUT here with the same \`sha256\`.`,
    allow: 'developer',
    project: 'developer',
    right: 'run',
    audit: { fields: ['sha256', 'size'] },
    needs: { records: writeRecords, objects: writeProjectObjects },
    input: { path: parameters, query: uploadRequest },
    output: { 200: UploadTicket },
    problems: ['conflict'],
    idempotent: { kind: 'signs', table: 'records' },

    async handle({ path: { project_id }, query: { sha256, size, multipart = false } }, context) {
      const { records, objects, settings, now } = context;
      const upload = { project_id, sha256, size };
      const object = uploadObject(kind, project_id, sha256);
      const maxBytes = settings.limits.projectBytes;
      if (!multipart && size <= uploadMaxBytes) {
        await changeInProject(context, () =>
          announceUpload(records, kind, upload, { maxBytes, now: now() }).catch(refuseBytes),
        );
        const ticket = await objects.presignUpload(object, size, sha256);
        return { upload: ticket, parts: null, sha256, size };
      }
      const announced = await changeInProject(context, () =>
        withNewParts(objects, { object, size }, (startParts) =>
          announceUpload(records, kind, upload, {
            ...{ maxBytes, now: now(), startParts },
            isGivenUp: (parts) => isGivenUp(objects, object, parts),
          }).catch(refuseBytes),
        ),
      );
      const missing =
        announced === 'accepted' || announced === null ? [] : await missingParts(objects, object, announced);
      const parts = missing.map((part) => ({ ...part, expires_in: uploadSeconds }));
      return { upload: null, parts, sha256, size };
    },
  });
}
