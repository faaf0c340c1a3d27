import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Start } from '../kill/apart.ts';
import { startLane } from '../kill/lane.ts';
import { startStores } from '../world/engines.ts';
import type { Program } from '../world/process.ts';
import { newService, removeService } from '../world/service.ts';
import { type ImportLife, type ImportLifeAsked, liveImport } from './import-life.ts';
import { jobFilesIn, trainableArchive } from './trainable-archive.ts';

export interface ImportLaneGiven {
  folder: string;
  program: Program;
}

/** A lane with engines of its own, in which one archive is imported time and again. */
export const startImportLane: Start<ImportLaneGiven, ImportLifeAsked, ImportLife> = async (
  started,
  { folder, program },
) => {
  await mkdir(folder, { recursive: true });
  const files = jobFilesIn(folder);
  await writeFile(files.witness, '');
  // Jobs run as users of their own.
  await chmod(files.witness, 0o666);
  const engines = await startStores(started, join(folder, 'engines'));
  const lane = await startLane(started, { folder, engines, program });
  const service = await newService(engines, lane.batchUrl);
  const archive = await trainableArchive(service, files);
  await removeService(service);
  return (asked) => liveImport(lane, archive, asked);
};
