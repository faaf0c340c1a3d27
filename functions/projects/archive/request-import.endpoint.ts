import * as z from 'zod';
import { partBytesFor } from '../../../shared/aws/multipart.ts';
import { writeProjectObjects } from '../../../shared/aws/needs.ts';
import { uploadSeconds } from '../../../shared/aws/upload-seconds.ts';
import { Sha256 } from '../../../shared/core/formats.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { newProjectId } from '../../../shared/data/projects/project.ts';
import {
  announceImport,
  findImport,
  importObject,
  type ProjectImport,
  saveImport,
} from '../../../shared/data/projects/project-archives.ts';
import { putOffPurge } from '../../../shared/data/projects/purge.ts';
import { missingParts, uploadMaxBytes, withNewParts } from '../../../shared/data/projects/upload.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { flag, integer } from '../../../shared/http/definition/parameters.ts';
import { keptUntil, mayExpire } from '../../../shared/project-archive/archive-limits.ts';
import { purgeOfImport } from '../../../shared/project-archive/import/run-import.ts';
import { UploadTicket } from '../uploads/upload.ts';
import { importMaxBytes } from './import-answer.ts';

/** Days until the record of an import is deleted. */
const rememberedDays = 7;

export const endpoint = defineEndpoint({
  name: 'requestImport',
  method: 'POST',
  path: '/projects/import',
  summary: 'Get an upload URL for an archive of a project',
  description:
    'The archive comes from an export of this or another deployment. Send the file with the method, the URL and exactly the headers of the response. Above 5 GB, or with `multipart`, send each part of `parts` separately. A repeated request returns the missing parts. Then PUT here with the same `sha256`.',
  allow: 'developer',
  audit: { fields: ['sha256'] },
  needs: { records: writeRecords, objects: writeProjectObjects },
  input: {
    query: z.strictObject({
      sha256: Sha256.describe('SHA-256 digest of the archive: 64 lower-case hexadecimal digits.'),
      size: integer(1, importMaxBytes).describe('Bytes of the archive, such as `48213`.'),
      multipart: flag
        .optional()
        .describe('Whether to upload in parts: `true` or `false`; above 5 GB always `true`.'),
    }),
  },
  work: 'later: an import, in steps',
  output: { 200: UploadTicket },
  problems: ['conflict'],
  idempotent: { kind: 'signs', table: 'records' },

  async handle({ query: { sha256, size, multipart = false } }, context) {
    const { records, objects, caller, newId, now } = context;
    const inParts = multipart || size > uploadMaxBytes;
    const previous = await findImport(records, caller.user_id, sha256);
    if (previous?.status === 'RUNNING')
      throw new ServiceError(
        'conflict',
        'You are already importing this archive. GET this path for its progress.',
      );
    const waits =
      previous?.status === 'WAITING' &&
      previous.size === size &&
      (previous.upload_id !== null) === inParts &&
      !mayExpire(keptUntil(new Date(previous.created_at)), now());

    /** Create a new import. It replaces one that has ended or whose upload was abandoned. */
    const announce = async (): Promise<ProjectImport> => {
      const project_id = await newProjectId(records, newId());
      const object = importObject(project_id);
      const value = (upload_id: string | null): ProjectImport => ({
        import_id: newId(),
        user_id: caller.user_id,
        sha256,
        size,
        status: 'WAITING',
        status_reason: null,
        created_at: now().toISOString(),
        ended_at: null,
        project_id,
        stage: 'checking',
        done: 0,
        upload_id,
        part_bytes: partBytesFor(size),
        failures: 0,
        project_renamed: null,
        renamed: [],
        schedules: 0,
        ttl: Math.ceil(now().getTime() / 1000) + rememberedDays * 24 * 60 * 60,
        version: 1,
      });
      return withNewParts(objects, { object, size }, async (startParts) => {
        const made = value(inParts ? (await startParts()).upload_id : null);
        await announceImport(records, made, previous, purgeOfImport(made, keptUntil(now())));
        return made;
      });
    };
    /** Continue the waiting import and its upload. */
    const goOn = (waiting: ProjectImport) =>
      saveImport(records, waiting, {}, putOffPurge(purgeOfImport(waiting, keptUntil(now()))));
    const value = await (waits ? goOn(previous) : announce()).catch((error: unknown) => {
      if (!(error instanceof ConditionFailedError)) throw error;
      throw new ServiceError('conflict', 'Another request has just announced this archive.');
    });
    const object = importObject(value.project_id);
    if (value.upload_id === null)
      return { upload: await objects.presignUpload(object, size, sha256), parts: null, sha256, size };
    const { upload_id, part_bytes } = value;
    const missing = await missingParts(objects, object, { upload_id, part_bytes, size });
    const parts = missing.map((part) => ({ ...part, expires_in: uploadSeconds }));
    return { upload: null, parts, sha256, size };
  },
});
