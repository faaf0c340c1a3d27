import { retryOnConflict } from '../table/retry-on-conflict.ts';
import type { TableReader, TableWriter } from '../table/table.ts';
import { findServing, putServing } from './serving.ts';

/** Crashes and timeouts after which a version is taken out. */
export const maxCrashes = 3;

/** Milliseconds after which an earlier crash no longer counts. */
const memoryMilliseconds = 3_600_000;

/** Count a crash of a version. The third takes it out, with the reason. */
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
    await writer.write(putServing(next, serving));
  });
}
