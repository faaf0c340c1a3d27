import { writeProjectObjects } from '../../../shared/aws/needs.ts';
import type { ObjectWriter } from '../../../shared/aws/objects.ts';
import { forSeconds } from '../../../shared/core/deadline.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import {
  importObject,
  type ProjectImport,
  saveImport,
} from '../../../shared/data/projects/project-archives.ts';
import { putOffPurge } from '../../../shared/data/projects/purge.ts';
import { joinParts } from '../../../shared/data/projects/upload.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import {
  keptUntil,
  mayRunInRequest,
  secondsInRequest,
} from '../../../shared/project-archive/archive-limits.ts';
import { purgeOfImport, runImport } from '../../../shared/project-archive/import/run-import.ts';
import { ImportAnswer, importedSha256, requireImport, showImport } from './import-answer.ts';

/** Check that the archive has been uploaded. @throws ServiceError `conflict` */
async function requireUploaded(objects: ObjectWriter, value: ProjectImport): Promise<void> {
  const { project_id, sha256, size, upload_id, part_bytes } = value;
  const object = importObject(project_id);
  const missing = upload_id === null ? 0 : await joinParts(objects, object, { upload_id, part_bytes, size });
  if (missing > 0)
    throw new ServiceError(
      'conflict',
      `${missing} ${missing === 1 ? 'part' : 'parts'} of the upload have not arrived. POST to this path returns their URLs.`,
    );
  const head = await objects.head(object);
  // Storage knows the digest of an upload in one piece. For an upload in parts, the digests inside the archive
  // verify it.
  if (head?.size === size && (head.sha256 === undefined || head.sha256 === sha256)) return;
  throw new ServiceError(
    'conflict',
    'The archive has not been uploaded. Send its bytes to the URL that POST to this path returns, then repeat this request.',
  );
}

export const endpoint = defineEndpoint({
  name: 'putImport',
  method: 'PUT',
  path: '/projects/import',
  summary: 'Create a project from an uploaded archive',
  description:
    'The new project belongs to the caller. Every digest in the archive is checked before anything is recorded; an invalid archive leaves nothing behind. All ids are new. A small archive is imported at once, a large one in the background; GET returns its progress.',
  allow: 'developer',
  audit: { fields: ['sha256'] },
  needs: { accounts: readUsers, records: writeRecords, objects: writeProjectObjects },
  input: { query: importedSha256 },
  work: 'later: an import, in steps',
  output: { 200: ImportAnswer },
  problems: ['conflict', 'not-found'],

  async handle({ query: { sha256 } }, { accounts, records, objects, caller, newId, now, log, settings }) {
    const { user_id } = caller;
    const found = await requireImport(records, user_id, sha256);
    if (found.status === 'FAILED')
      throw new ServiceError(
        'conflict',
        `The import failed, and its upload was removed. Start again with POST. ${found.status_reason ?? ''}`,
      );
    if (found.status !== 'WAITING') return showImport(found);
    await requireUploaded(objects, found);
    const purge = purgeOfImport(found, keptUntil(now()));
    const begun = await saveImport(records, found, { status: 'RUNNING' }, putOffPurge(purge)).catch(
      (error: unknown) => {
        if (!(error instanceof ConditionFailedError)) throw error;
        throw new ServiceError(
          'conflict',
          'The upload has expired, or another request began the import at the same moment. GET returns its status.',
        );
      },
    );
    const { projectBytes } = settings.limits;
    const archive = { accounts, records, objects, newId, now, projectBytes, deployment: settings };
    if (mayRunInRequest(begun.size, 0)) await runImport(archive, begun, forSeconds(secondsInRequest), log);
    return showImport(await requireImport(records, user_id, sha256));
  },
});
