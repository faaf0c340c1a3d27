import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Settings } from '../../shared/core/settings.ts';
import { findServedVersion, listServing, resolveVersion } from '../../shared/data/models/serving.ts';
import { servingBytes } from '../../shared/data/models/serving-memory.ts';
import { isAlive } from '../../shared/host/is-alive.ts';
import { ModelSessions } from '../../shared/serving/sessions/model-sessions.ts';
import type { ServingContext } from './serving-needs.ts';

let made: ModelSessions | undefined;

/** The sessions of this process. */
export function sessionsOf({
  serving,
  dataSizeFile,
}: Pick<Settings, 'serving' | 'dataSizeFile'>): ModelSessions {
  made ??= new ModelSessions({
    program: serving.program ?? join(import.meta.dirname, '../../shared/serving/sessions/session-program.ts'),
    folder: ownFolder(),
    memoryBytes: serving.memory * 2 ** 20,
    diskBytes: serving.disk * 2 ** 20,
    timeLimit,
    hidden: dataSizeFile === undefined ? [] : [dirname(dataSizeFile)],
  });
  return made;
}

/** Milliseconds of one run: API Gateway gives up after 29 s. */
const timeLimit = 25_000;

const folderName = 'served-models-';

/** Make the folder of this process, and remove those of processes that have ended. */
function ownFolder(): string {
  const base = tmpdir();
  for (const name of readdirSync(base)) {
    const pid = name.startsWith(folderName) ? Number(name.slice(folderName.length)) : Number.NaN;
    if (Number.isInteger(pid) && !isAlive(pid)) rmSync(join(base, name), { recursive: true, force: true });
  }
  const folder = join(base, `${folderName}${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let hasWarmed = false;

/** Open the warm models in the background, once for each process. */
export function warmOnce(sessions: ModelSessions, context: ServingContext): void {
  if (hasWarmed) return;
  hasWarmed = true;
  void warmAll(sessions, context).catch((error: unknown) => {
    context.log.warn('warm-up-failed', { detail: String(error) });
  });
}

async function warmAll(sessions: ModelSessions, { records, objects }: ServingContext): Promise<void> {
  const { items } = await listServing(records, { limit: 100, after: undefined });
  for (const serving of items.filter(({ warm }) => warm)) {
    const name = resolveVersion(serving);
    if (name === undefined || serving.versions[name]?.withdrawn !== null) continue;
    const version = await findServedVersion(records, serving.model_id, name);
    if (version === undefined) continue;
    await sessions.warm(objects, { version, memoryBytes: servingBytes(serving, version), isWarm: true });
  }
}
