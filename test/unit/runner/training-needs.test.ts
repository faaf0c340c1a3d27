import { expect, test } from 'vitest';
import { roleStatements } from '../../../infra/service/role-statements.ts';
import { trainingNeeds } from '../../../shared/runner/job/training-needs.ts';

const arns = { accounts: 'accounts', records: 'records', bucket: 'bucket', submissions: [], jobs: [] };

test('the role of a training reaches experiments, and nothing that holds permissions or removes', () => {
  const statements = roleStatements(Object.values(trainingNeeds), arns);
  const onRecords = statements.filter(({ resources }) => resources.includes('records'));
  const reached = onRecords.map(({ actions, conditions }) => ({
    writes: actions.includes('dynamodb:PutItem'),
    keys: conditions?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'],
  }));
  expect(reached).toEqual([
    {
      writes: true,
      keys: [
        'EXPERIMENTS#*',
        'EXPERIMENT_RANKING#*',
        'FIRST_CRITERION#*',
        'JOB#*',
        'TRACKING#*',
        'CATALOGUE#*',
        'LOGGED_MODELS#*',
        'SWEEP_TURNS',
        'NOTICES',
        'SWEEP_REPORTS#*',
        'UNFINISHED_JOBS',
        'UNFINISHED_JOBS#*',
        'LIMITS',
        'LIMITS#*',
        'MONTH_COSTS#*',
        'COUNTERS#*',
        'ENVIRONMENT#*',
        'ENVIRONMENT_PACKS#*',
      ],
    },
    // Whether the project is there: only checked within a write.
    { writes: false, keys: ['PROJECTS', 'PROJECTS#*'] },
    // Which events hooks ask for; not the hooks.
    { writes: false, keys: ['HOOK_EVENTS#*'] },
    { writes: false, keys: ['BUDGETS#*'] },
  ]);
  expect(onRecords[1]?.actions).toEqual(['dynamodb:ConditionCheckItem']);
  expect(statements.some(({ resources }) => resources.includes('accounts'))).toBe(false);
});
