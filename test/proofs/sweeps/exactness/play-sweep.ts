import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { command, configOf } from './cases.ts';
import type { KilledService } from './killed-service.ts';
import { readStopped, type StoredSweep } from './stored-sweep.ts';

/** How a sweep is disturbed. */
export interface Disturbance {
  /** Mean seconds between two kills. */
  seconds: number;
  /** Most kills; default: as many as the sweep takes. */
  maxKills?: number;
  random: () => number;
  say(line: string): void;
}

/** Play a sweep to its end in a project of its own, while processes are killed. Stop the service, and read what is stored. */
export async function playSweep(
  service: KilledService,
  dataFolder: string,
  spec: object,
  disturbance: Disturbance,
): Promise<StoredSweep> {
  const project_id = await newProject(service, configOf(spec));
  const { sweep_id } = await service.call<{ sweep_id: string }>('POST', `/projects/${project_id}/sweeps`, {
    config: 'train.yaml',
    metric: 'loss',
    goal: 'minimize',
    retries: 10,
    ...spec,
  });
  await follow(service, `/projects/${project_id}/sweeps/${sweep_id}`, disturbance);
  await service.end('SIGTERM');
  return readStopped(join(dataFolder, 'dynamodb/records.db'), { project_id, sweep_id });
}

async function newProject(service: KilledService, config: string): Promise<string> {
  const query = 'project-name=p&project-description=d&project-type=t&project-task=regression';
  const { project_id } = await service.call<{ project_id: string }>('POST', `/projects/?${query}`);
  await service.call('PUT', `/projects/${project_id}/configs/train.yaml`, config);
  const environment = new URLSearchParams({
    env_type: 'system',
    dependencies: 'none',
    entry_point_command: command,
  });
  await service.call('PUT', `/projects/${project_id}/environment?${environment}`);
  return project_id;
}

interface Shown {
  status: string;
  counts: Record<'running' | 'begun' | 'left' | 'complete' | 'stopped_early', number>;
}

async function follow(
  service: KilledService,
  path: string,
  { seconds, maxKills = Number.POSITIVE_INFINITY, random, say }: Disturbance,
): Promise<void> {
  let kills = 0;
  const untilKill = () => performance.now() + seconds * 1000 * (0.5 + random());
  for (let killAt = untilKill(); ; await sleep(250)) {
    const { status, counts } = await service.call<Shown>('GET', path);
    if (!['RUNNING', 'PAUSED'].includes(status) && counts.running === 0) return;
    // Three containers that were killed first are three failures for the same reason.
    if (status === 'PAUSED') await service.call('POST', `${path}/resume`).catch(() => undefined);
    if (kills >= maxKills || performance.now() < killAt) continue;
    kills += 1;
    await service.kill();
    killAt = untilKill();
    if (kills % 10 === 0) say(`${kills} kills: ${counts.begun} runs begun, ${counts.left} left`);
  }
}
