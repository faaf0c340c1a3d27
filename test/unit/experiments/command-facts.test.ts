import { expect, test } from 'vitest';
import { commandClashes } from '../../../shared/experiments/command-facts.ts';

test('a param clashes with a flag of another value, and not with the same number or truth in other words', () => {
  const entry_point_command = 'python train.py --lr 1e-3 --amp true --seed 8 --mode fast';

  const clashes = commandClashes(
    { kind: 'train', environment: { entry_point_command, env_type: 'system', dependencies: '', version: 1 } },
    { lr: '0.001', amp: 'True', seed: '7', mode: 'FAST' },
  );

  expect(clashes).toEqual([
    'The command has seed 8, but the param seed is 7, from the configuration or the program.',
    'The command has mode fast, but the param mode is FAST, from the configuration or the program.',
  ]);
});
