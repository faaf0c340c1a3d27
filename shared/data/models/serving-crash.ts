import { noticeWrites } from '../hooks/notice.ts';
import { retryOnConflict } from '../table/retry-on-conflict.ts';
import type { TableReader, TableWriter, Write } from '../table/table.ts';
import { findServing, putServing, type Serving } from './serving.ts';

/** Crashes and timeouts after which a version is taken out. */
export const maxCrashes = 3;

/** Milliseconds after which an earlier crash no longer counts. */
const memoryMilliseconds = 3_600_000;

/**
 * Count a crash of a version. The third takes it out, with the reason, and tells the hooks of the project that trained
 * the model.
 */
export async function recordCrash(
  records: TableReader<'records'>,
  writer: TableWriter<'records'>,
  { model_name, name, digest }: { model_name: string; name: string; digest: string },
  { reason, now }: { reason: string; now: Date },
): Promise<void> {
  await retryOnConflict(async () => {
    const serving = await findServing(records, model_name);
    const state = serving?.versions[name];
    if (serving === undefined || state === undefined || state.digest !== digest) return;
    const isRecent =
      state.crashed_at !== null && now.getTime() - Date.parse(state.crashed_at) < memoryMilliseconds;
    const crashes = (isRecent ? state.crashes : 0) + 1;
    const withdrawn =
      state.withdrawn ??
      (crashes >= maxCrashes ? `${crashes} requests ended its process. The last one: ${reason}.` : null);
    const versions = {
      ...serving.versions,
      [name]: { ...state, crashes, crashed_at: now.toISOString(), withdrawn },
    };
    const next = { ...serving, versions, updated_at: now.toISOString(), version: serving.version + 1 };
    const told =
      state.withdrawn === null && withdrawn !== null
        ? await withdrawalNotices(records, serving, { name, withdrawn, now })
        : [];
    await writer.write(putServing(next, serving), ...told);
  });
}

/** Build the write that tells that a version was taken out. Return none for a model that no project trained. */
async function withdrawalNotices(
  records: TableReader<'records'>,
  { project_id, model_id, model_name }: Serving,
  { name, withdrawn, now }: { name: string; withdrawn: string; now: Date },
): Promise<Write[]> {
  if (project_id === null) return [];
  const reason = `The version ${name} was taken out: ${withdrawn}`;
  const facts = { name: model_name, version: name, reason };
  return noticeWrites(records, { type: 'serving.failing', project_id, subject: model_id, facts }, now);
}
