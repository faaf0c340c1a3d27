import { join } from 'node:path';
import { startStores } from '../world/engines.ts';
import type { Program } from '../world/process.ts';
import type { Start } from './apart.ts';
import type { JobKind } from './course.ts';
import { liveJob } from './job-life.ts';
import type { Life, Scenario, Strike } from './job-strike.ts';
import { startLane } from './lane.ts';

/** What a lane of jobs works with. */
export interface JobLaneGiven {
  folder: string;
  program: Program;
}

/** A life to be lived; without a strike nothing is killed. */
export interface JobLifeAsked {
  scenario: Scenario;
  kind: JobKind;
  strike?: Strike;
}

/** A lane with engines of its own, in which one job after the other has its life. */
export const startJobLane: Start<JobLaneGiven, JobLifeAsked, Life> = async (started, { folder, program }) => {
  const engines = await startStores(started, join(folder, 'engines'));
  const lane = await startLane(started, { folder, engines, program });
  return ({ scenario, kind, strike }) => liveJob(lane, scenario, strike, kind);
};
