import { writeProjectObjects } from '../../shared/aws/needs.ts';
import { changeInProject } from '../../shared/data/change-in-project.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { announceUpload, sourceObject } from '../../shared/data/upload.ts';
import { defineEndpoint } from '../../shared/http/definition.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { projectPath } from './project-path.ts';
import { refuseBytes } from './refuse-bytes.ts';
import { UploadTicket, uploadRequest } from './upload-answer.ts';

export const endpoint = defineEndpoint({
  name: 'requestSourceUpload',
  method: 'POST',
  path: '/projects/{project_id}/source',
  summary: 'Ask where to upload a source archive',
  description:
    'Send the archive with the method, the URL and exactly the headers of the answer; storage refuses any other bytes. Then PUT here with the same `sha256`.',
  allow: 'developer',
  project: 'own',
  needs: { records: writeRecords, objects: writeProjectObjects },
  input: { path: projectPath, query: uploadRequest },
  output: { 200: UploadTicket },
  problems: ['conflict'],
  idempotent: { kind: 'signs', table: 'records' },

  async handle(
    { path: { project_id }, query: { sha256, size } },
    { records, objects, project, settings, now },
  ) {
    const upload = { project_id, sha256, size };
    const { projectBytes } = settings.limits;
    await changeInProject(records, project, () =>
      announceUpload(records, 'source', upload, projectBytes, now()).catch(refuseBytes),
    );
    const ticket = await objects.presignUpload(sourceObject(project_id, sha256), size, sha256);
    return { upload: ticket, sha256, size };
  },
});

export const handler = lambda(endpoint);
