import { findUser } from '../../data/accounts/user.ts';
import { projectExists } from '../../data/projects/project.ts';
import { neverRun, putSchedule, putScheduleConfig, type Schedule } from '../../data/schedules/schedule.ts';
import { paused } from '../../schedules/schedule-state.ts';
import { type ImportContext, type ImportPass, importedId, saveWith } from './import-context.ts';
import type { OpenArchive } from './open-archive.ts';
import { fileAt, readConfigBytes, readSchedule } from './read-document.ts';

/**
 * Record a schedule with its configuration, in one transaction with the progress of the import. It is paused, so nothing
 * runs before its owner resumes it, and it is the importer's.
 * @param done number of finished steps afterwards
 * @returns false if the project was deleted or has too many schedules
 * @throws ConditionFailedError if another pass continued the import
 */
export async function recordSchedule(
  { accounts, now }: ImportContext,
  pass: ImportPass,
  archive: OpenArchive,
  number: number,
  done: number,
): Promise<boolean> {
  const { import_id, project_id, user_id } = pass.value;
  const group = archive.contents.schedules[number - 1];
  const [config] = group?.rest ?? [];
  if (group === undefined || config === undefined) throw new Error(`no schedule ${number}`);
  const user = await findUser(accounts, user_id);
  const file = fileAt(archive.files, group.document);
  const { rules, ...read } = await readSchedule(archive, archive.read(group.document), file);
  const content = await readConfigBytes(archive.read(config), fileAt(archive.files, config));
  const schedule: Schedule = {
    ...{ schedule_id: importedId(import_id, 'schedule', number), project_id },
    ...{ user_id, username: user?.username ?? 'nobody', ...read, ...(rules !== undefined && { rules }) },
    ...neverRun(),
    updated_at: now().toISOString(),
    version: 1,
  };
  return saveWith(
    pass,
    done,
    projectExists(project_id),
    ...putSchedule(paused(schedule, 'It came with an archive. Whoever resumes it, it runs as that user.')),
    putScheduleConfig(schedule, content),
  );
}
