import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Settings } from '../../shared/core/settings.ts';
import {
  findServedVersion,
  findServing,
  listWarm,
  resolveVersion,
} from '../../shared/data/models/serving.ts';
import { servingBytes } from '../../shared/data/models/serving-memory.ts';
import { isAlive } from '../../shared/host/is-alive.ts';
import { afterRunning } from '../../shared/serving/sessions/after-running.ts';
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

let warming: Promise<void> | undefined;

/** Open the warm models in the background, once for each process. */
export function warmOnce(context: Warming): void {
  warming ??= warmAll(context).catch((error: unknown) => {
    context.log.warn('warm-up-failed', { detail: String(error) });
  });
}

/** Open the warm models in the time that Lambda gives a new instance. What takes longer is opened by its first request. */
export async function warmAtStart(context: Warming): Promise<void> {
  const over = Promise.withResolvers<void>();
  const cancel = afterRunning(startMilliseconds, over.resolve);
  warmOnce(context);
  await Promise.race([warming, over.promise]);
  cancel();
}

/** Lambda gives 10 s, and begins anew after them. */
const startMilliseconds = 8_000;

type Warming = Pick<ServingContext, 'records' | 'objects' | 'settings' | 'log'>;

async function warmAll({ records, objects, settings }: Warming): Promise<void> {
  const sessions = sessionsOf(settings);
  let room = settings.serving.memory * 2 ** 20;
  for (const model_name of await listWarm(records)) {
    const serving = await findServing(records, model_name);
    const name = serving && resolveVersion(serving);
    if (name === undefined || serving?.versions[name]?.withdrawn !== null) continue;
    const version = await findServedVersion(records, serving.model_id, name);
    if (version === undefined) continue;
    const memoryBytes = servingBytes(serving, version);
    room -= memoryBytes;
    // One warm model must not end another.
    if (room < 0) return;
    await sessions.warm(objects, { version, memoryBytes, isWarm: true });
  }
}
