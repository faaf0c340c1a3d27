import { expect, test } from 'vitest';
import { readSettings } from '../../../shared/core/settings.ts';
import { judgeGroups } from '../../proofs/sweeps/budgets/judge-groups.ts';
import { simulateGroup } from '../../proofs/sweeps/budgets/simulate-jobs.ts';
import { everySample } from '../../support/samples.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { testService } from '../../support/service.ts';

test.runIf(everySample)(
  'jobs whose hosts are lost cost what AWS charges, and exceed a budget by less than their heartbeats',
  async () => {
    const service = await testService();
    const simulated = { ...service, settings: readSettings(service.environment) };
    const random = seededRandom(7);

    const groups = [
      await simulateGroup(simulated, random, false),
      await simulateGroup(simulated, random, true),
      await simulateGroup(simulated, random, false),
    ];

    const figures = judgeGroups(groups);
    expect(figures.filter(({ bound }) => bound?.isMet === false)).toEqual([]);
    expect(groups.flatMap(({ jobs }) => jobs).some(({ isStopped }) => isStopped)).toBe(true);
  },
);
