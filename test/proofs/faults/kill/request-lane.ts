import { join } from 'node:path';
import { startStores } from '../world/engines.ts';
import type { Program } from '../world/process.ts';
import type { Start } from './apart.ts';
import { liveRequest, type RequestLife } from './request-life.ts';
import { stories } from './stories.ts';
import type { Mark } from './strikes.ts';

export interface RequestLaneGiven {
  folder: string;
  program: Program;
}

/** A story by its name, and where its process is killed; nowhere unless given. */
export interface RequestLifeAsked {
  story: string;
  mark?: Omit<Mark, 'role'>;
}

/** A lane with engines of its own, in which one story is told after the other. */
export const startRequestLane: Start<RequestLaneGiven, RequestLifeAsked, RequestLife> = async (
  started,
  { folder, program },
) => {
  const engines = await startStores(started, join(folder, 'engines'));
  return ({ story: name, mark }) => {
    const story = stories.find((one) => one.name === name);
    if (story === undefined) throw new Error(`there is no story ${name}`);
    return liveRequest({ folder, engines, program }, story, mark);
  };
};
