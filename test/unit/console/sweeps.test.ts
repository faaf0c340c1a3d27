import { expect, test } from 'vitest';
import { changeOf, rangesOf } from '../../../functions/console/app/sweeps/extension.ts';

const sweep = {
  name: 'search',
  trials: 20,
  parallel: 2,
  budget: 5,
  parameters: { lr: { min: 0.001, max: 0.1, scale: 'log' as const }, optimizer: { values: ['sgd', 'adam'] } },
};
const same = { name: 'search', trials: '20', parallel: '2', budget: '5' };

test('an extension has only what differs', () => {
  expect(rangesOf(sweep).map(({ name }) => name)).toEqual(['lr']);
  expect(changeOf(sweep, same, { lr: { min: '1e-3', max: '.1' } })).toEqual({});
  expect(changeOf(sweep, { ...same, trials: '40', budget: ' ' }, { lr: { min: '0.001', max: '1' } })).toEqual(
    { trials: 40, budget: null, parameters: { lr: { min: 0.001, max: 1, scale: 'log' } } },
  );
});

test('an extension sends what is no number as it was typed, so that the service names its fault', () => {
  const typed = { name: 'search', trials: '4o', parallel: '', budget: 'five' };

  expect(changeOf(sweep, typed, { lr: { min: '', max: 'O.1' } })).toEqual({
    trials: '4o',
    parallel: '',
    budget: 'five',
    parameters: { lr: { min: '', max: 'O.1', scale: 'log' } },
  });
});
