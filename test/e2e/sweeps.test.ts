import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { judgeSweep } from '../proofs/sweeps/exactness/judge-sweep.ts';
import { KilledService } from '../proofs/sweeps/exactness/killed-service.ts';
import { playSweep } from '../proofs/sweeps/exactness/play-sweep.ts';
import { everySample } from '../support/samples.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { proofFolder } from '../support/short-form.ts';

test.runIf(everySample)(
  'a sweep whose service is killed again and again begins each trial once, with the values of its seed',
  async () => {
    const folder = await proofFolder();
    onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const data = join(folder, 'data');
    const random = seededRandom(2);
    const service = await KilledService.start(data, random);
    onTestFinished(async () => void (await service.end('SIGKILL')));

    const stored = await playSweep(
      service,
      data,
      {
        method: 'tpe',
        trials: 8,
        parallel: 3,
        parameters: { lr: { min: 0.001, max: 1, scale: 'log' } },
        stop: { rule: 'asha', step_min: 1, reduction: 3 },
      },
      { seconds: 2, maxKills: 2, random, say: () => {} },
    );

    expect(judgeSweep(stored)).toEqual([]);
    expect(Object.values(service.kills).reduce((sum, kills) => sum + kills)).toBe(2);
  },
);
