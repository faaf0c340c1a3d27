import { expect, test } from 'vitest';
import { roleStatements } from '../../../infra/service/iam-statements.ts';
import { trainingNeeds } from '../../../shared/runner/job/training-needs.ts';

const arns = {
  accounts: 'accounts',
  records: 'records',
  bucket: 'bucket',
  submissions: [],
  jobs: [],
  deployment: '',
};

test('the role of a training reaches experiments, and nothing that holds permissions or removes', () => {
  const statements = roleStatements(Object.values(trainingNeeds), arns);
  const onRecords = statements.filter(({ resources }) => resources.includes('records'));
  const reached = onRecords.map(({ actions, conditions }) => ({
    reads: actions.includes('dynamodb:BatchGetItem'),
    writes: actions.includes('dynamodb:PutItem'),
    keys: conditions?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'],
  }));
  const written = [
    'EXPERIMENTS#*',
    'EXPERIMENT_RANKING#*',
    'FIRST_CRITERION#*',
    'JOB#*',
    'TRACKING#*',
    'CATALOGUE#*',
    'LOGGED_MODELS#*',
    'SWEEP_TURNS',
    'SCHEDULE_TIMES',
    'EXPORT_STEPS',
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
  ];
  expect(reached).toEqual([
    // In one statement, because the table joins reads. Of hooks, which events they ask for; not the hooks.
    { reads: true, writes: false, keys: [...written, 'HOOK_EVENTS#*', 'BUDGETS#*'] },
    { reads: false, writes: true, keys: written },
    // Whether the project is there: only checked within a write.
    { reads: false, writes: false, keys: ['PROJECTS', 'PROJECTS#*'] },
  ]);
  expect(onRecords[2]?.actions).toEqual(['dynamodb:ConditionCheckItem']);
  expect(statements.some(({ resources }) => resources.includes('accounts'))).toBe(false);
});
