import { writeProjectObjects } from '../../shared/aws/needs.ts';
import { changeInProject } from '../../shared/data/change-in-project.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { announceUpload, uploadObject } from '../../shared/data/upload.ts';
import { defineEndpoint } from '../../shared/http/definition.ts';
import { projectPath } from '../../shared/http/project-path.ts';
import { refuseBytes } from './refuse-bytes.ts';
import { datasetPath, UploadTicket, uploadRequest } from './upload-answer.ts';

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

/** The request for an upload of a source or a data set. */
export function uploadRequesting<K extends keyof typeof resources>(kind: K) {
  const { name, path, parameters, summary, file } = resources[kind];
  return defineEndpoint({
    name,
    method: 'POST',
    path,
    summary,
    description: `Send the ${file} with the method, the URL and exactly the headers of the response; storage refuses other bytes. Then PUT here with the same \`sha256\`.`,
    allow: 'developer',
    project: 'developer',
    needs: { records: writeRecords, objects: writeProjectObjects },
    input: { path: parameters, query: uploadRequest },
    output: { 200: UploadTicket },
    problems: ['conflict'],
    idempotent: { kind: 'signs', table: 'records' },

    async handle({ path: { project_id }, query: { sha256, size } }, context) {
      const { records, objects, settings, now } = context;
      const upload = { project_id, sha256, size };
      const { projectBytes } = settings.limits;
      await changeInProject(context, () =>
        announceUpload(records, kind, upload, projectBytes, now()).catch(refuseBytes),
      );
      const ticket = await objects.presignUpload(uploadObject(kind, project_id, sha256), size, sha256);
      return { upload: ticket, sha256, size };
    },
  });
}
