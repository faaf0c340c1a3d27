import { join } from 'node:path';
import { startStores } from '../world/engines.ts';
import type { Program } from '../world/process.ts';
import type { Start } from './apart.ts';
import { type DeleteLife, liveDelete } from './delete-life.ts';
import { startLane } from './lane.ts';
import type { Mark } from './strikes.ts';
import type { Template } from './template.ts';

/** What a lane of deletes works with. */
export interface Given {
  folder: string;
  program: Program;
  template: Template;
}

/** Its containers do nothing; one delete after the other ends them. */
export const startDeleteLane: Start<Given, Mark | undefined, DeleteLife> = async (
  started,
  { folder, program, template },
) => {
  const engines = await startStores(started, join(folder, 'engines'));
  const lane = await startLane(started, { folder, engines, program, command: ['/bin/sleep', '600'] });
  return (mark) => liveDelete(lane, template, mark);
};
