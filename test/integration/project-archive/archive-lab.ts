import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { type ObjectWriter, objectWriter } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { forSeconds } from '../../../shared/core/deadline.ts';
import { createLogger } from '../../../shared/core/log.ts';
import { newId } from '../../../shared/core/new-id.ts';
import type { User } from '../../../shared/data/accounts/user.ts';
import { newProjectId } from '../../../shared/data/projects/project.ts';
import {
  announceImport,
  exportObject,
  findExport,
  findImport,
  importObject,
  type ProjectExport,
  type ProjectImport,
  saveImport,
} from '../../../shared/data/projects/project-archives.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { keptUntil } from '../../../shared/project-archive/archive-limits.ts';
import { runExport, startExport } from '../../../shared/project-archive/export/run-export.ts';
import { purgeOfImport, runImport } from '../../../shared/project-archive/import/run-import.ts';
import { testBucket } from '../../support/emulators.ts';
import type { TestService } from '../../support/service.ts';

const now = () => new Date();
const log = createLogger('error', () => undefined, {});

/** What archives are made and read with, on real engines. */
export interface ArchiveTools {
  records: TableWriter<'records'>;
  objects: ObjectWriter;
  user: User;
  service: Pick<TestService, 'records' | 'accounts'>;
}

/** The same, of a service that a test asks. */
export interface ArchiveLab extends ArchiveTools {
  service: TestService;
}

export function archiveLab(service: TestService, user: User): ArchiveLab {
  return {
    records: service.records,
    objects: objectWriter(s3(service.environment), testBucket),
    user,
    service,
  };
}

/** The same with something that happens before each call of these names. */
function hooked(
  lab: ArchiveLab,
  names: { records: readonly string[]; objects: readonly string[] },
  before: () => Promise<void> | void,
): ArchiveLab {
  const hook = <T extends object>(service: T, hookedNames: readonly string[]): T =>
    new Proxy(service, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function' || !hookedNames.includes(String(name))) return member;
        return async (...given: unknown[]) => {
          await before();
          return Reflect.apply(member, target, given);
        };
      },
    });
  return { ...lab, records: hook(lab.records, names.records), objects: hook(lab.objects, names.objects) };
}

const changing = {
  records: ['write'],
  objects: ['put', 'putStream', 'startParts', 'putPart', 'completeParts', 'delete'],
};
const any = {
  records: [...changing.records, 'get', 'batchGet', 'query', 'count'],
  objects: [...changing.objects, 'read', 'open', 'head'],
};

/** The services of a process that dies before the call of this number that changes something, and does nothing after it. */
export function dyingAt(lab: ArchiveLab, call: number): { lab: ArchiveLab; died: () => boolean } {
  let calls = 0;
  const dying = hooked(lab, changing, () => {
    calls += 1;
    if (calls >= call) throw new Error('killed');
  });
  return { lab: dying, died: () => calls >= call };
}

/** The services of a process of which each call waits until it is let through. */
export const gated = (lab: ArchiveLab, gate: () => Promise<void>): ArchiveLab => hooked(lab, any, gate);

const contextOf = ({ records, objects, service }: ArchiveTools, projectBytes = 1e9) => ({
  records,
  objects,
  accounts: service.accounts,
  newId,
  now,
  projectBytes,
  deployment: { packageIndexes: [], trustedImages: undefined },
});

/** One pass over an export that is under way. */
export async function passOverExport(lab: ArchiveTools, project_id: string): Promise<ProjectExport> {
  const found = await findExport(lab.service.records, project_id);
  if (found?.status === 'RUNNING') await runExport(contextOf(lab), found, forSeconds(60), log);
  const then = await findExport(lab.service.records, project_id);
  if (then === undefined) throw new Error('the export is gone');
  return then;
}

export async function beginExporting(lab: ArchiveTools, project_id: string): Promise<void> {
  await startExport(contextOf(lab), project_id, () => []);
}

export async function archiveOf(lab: ArchiveTools, value: ProjectExport): Promise<Buffer> {
  const stream = await lab.objects.read(exportObject(value));
  return stream === undefined ? Buffer.alloc(0) : buffer(stream);
}

/** The archive of a project. */
export async function exported(lab: ArchiveTools, project_id: string): Promise<Buffer> {
  await beginExporting(lab, project_id);
  const value = await passOverExport(lab, project_id);
  if (value.status !== 'SUCCEEDED') throw new Error(value.status_reason ?? value.status);
  return archiveOf(lab, value);
}

/** Uploads an archive and begins its import. @returns the digest by which it is found */
export async function beginImporting(lab: ArchiveTools, archive: Uint8Array): Promise<string> {
  const { records, objects, user } = lab;
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const value: ProjectImport = {
    import_id: newId(),
    user_id: user.user_id,
    sha256,
    size: archive.length,
    status: 'WAITING',
    status_reason: null,
    created_at: now().toISOString(),
    ended_at: null,
    project_id: await newProjectId(records, newId()),
    stage: 'checking',
    done: 0,
    upload_id: null,
    part_bytes: 0,
    failures: 0,
    project_renamed: null,
    renamed: [],
    schedules: 0,
    ttl: Math.ceil(Date.now() / 1000) + 1000,
    version: 1,
  };
  const previous = await findImport(records, user.user_id, sha256);
  await announceImport(records, value, previous, purgeOfImport(value, keptUntil(now())));
  await objects.put(importObject(value.project_id), archive, 'application/zip');
  await saveImport(records, value, { status: 'RUNNING' });
  return sha256;
}

/** One pass over an import that is under way. */
export async function passOverImport(
  lab: ArchiveTools,
  sha256: string,
  projectBytes?: number,
): Promise<ProjectImport> {
  const { user_id } = lab.user;
  const found = await findImport(lab.service.records, user_id, sha256);
  if (found?.status === 'RUNNING') await runImport(contextOf(lab, projectBytes), found, forSeconds(60), log);
  const then = await findImport(lab.service.records, user_id, sha256);
  if (then === undefined) throw new Error('the import is gone');
  return then;
}

/** What became of an archive that was imported. */
export async function imported(
  lab: ArchiveTools,
  archive: Uint8Array,
  projectBytes?: number,
): Promise<ProjectImport> {
  return passOverImport(lab, await beginImporting(lab, archive), projectBytes);
}
