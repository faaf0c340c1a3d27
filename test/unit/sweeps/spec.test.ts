import { expect, test } from 'vitest';
import { faultsOfNames } from '../../../shared/sweeps/spec/sweep-faults.ts';
import { SweepSpec } from '../../../shared/sweeps/spec.ts';
import { faultsIn, sweepOf } from './some-sweep.ts';

test('a sweep file says little, and the rest has defaults', () => {
  const file = {
    config: 'train.yaml',
    parameters: {
      learning_rate: { min: 1e-4, max: 1e-1, scale: 'log' },
      'model.depth': { values: [2, 4, 8] },
    },
    trials: 60,
    stop: { rule: 'asha' },
  };

  const spec = SweepSpec.parse(file);

  expect(spec).toMatchObject({
    method: 'tpe',
    seed: 0,
    repeats: 1,
    parallel: 1,
    retries: 0,
    args: false,
    start: [],
  });
  expect(spec.stop).toEqual({ rule: 'asha', step_min: 1, reduction: 3 });
});

test('all faults of a file are reported at once', () => {
  const faults = faultsIn({
    method: 'bayes',
    parameters: {
      lr: { min: 0, max: 1, scale: 'log' },
      depth: { values: [] },
      width: { min: 1, max: 9, stp: 2 },
    },
    parallel: 0,
    stop: { rule: 'never' },
  });

  expect(faults).toEqual({
    config: 'is required, unless args is true',
    method: 'must be grid, random, sobol, tpe or external',
    'parameters.lr.min': 'must be above 0 on a log scale',
    'parameters.depth.values': 'must hold at least one value',
    'parameters.width.stp': 'is not known here; allowed are values, value, min, max, step, scale, if',
    parallel: 'must be a whole number from 1 to 1000',
    'stop.rule': 'must be asha or median',
    trials: 'is required, except with method grid',
  });
});

const inexact =
  'must not be a whole number beyond 9007199254740991 (2^53 - 1) in magnitude, because it is not kept exactly';

test.each([
  [{ min: 1, max: 1 }, 'max', 'must be above min, 1; a single value is written as value'],
  [{ min: 2, max: 1 }, 'max', 'must be above min, 2; a single value is written as value'],
  [{ min: -1, max: 1, scale: 'log' }, 'min', 'must be above 0 on a log scale'],
  [{ min: 0, max: 1, step: 2 }, 'step', 'must be at most max - min, 1'],
  [{ min: 0, max: 1, step: 0 }, 'step', 'must be above 0'],
  [{ min: 0, max: 1, step: 1e-300 }, 'step', 'is too small for the range'],
  [{ min: 0, max: 2 ** 53 }, 'max', inexact],
  [{ value: 2 ** 53 + 2 }, 'value', inexact],
  [{ values: ['a', -(2 ** 60)] }, 'values.1', inexact],
  [{ min: 1 }, 'max', 'is required with min'],
  [{ values: [1, 2, 1] }, 'values', 'must hold 1 once'],
  [{ values: [1, 2], scale: 'log' }, 'scale', 'needs min and max'],
  [{ values: [1], min: 0, max: 1 }, '', 'must have one of values, value, or min and max'],
  [{}, '', 'must have one of values, value, or min and max'],
])('the parameter %j is refused', (parameter, field, message) => {
  const faults = faultsIn({ config: 'a.yaml', trials: 5, parameters: { x: parameter } });

  expect(faults).toEqual({ [`parameters.x${field && `.${field}`}`]: message });
});

test('a grid has as many trials as points', () => {
  const parameters = { a: { values: [1, 2, 3] }, b: { min: 0, max: 1, step: 0.5 } };

  expect(faultsIn({ config: 'a.yaml', method: 'grid', parameters })).toEqual({});
  expect(faultsIn({ config: 'a.yaml', method: 'grid', parameters, trials: 9 })).toEqual({});
  expect(faultsIn({ config: 'a.yaml', method: 'grid', parameters, trials: 8 })).toEqual({
    trials: 'must be 9, the number of points of the grid, or left out',
  });
});

test('a grid of too many points is refused without counting them all', () => {
  const thousand = { min: 1, max: 1000, step: 1 };

  const large = faultsIn({
    config: 'a.yaml',
    method: 'grid',
    parameters: { a: thousand, b: { min: 1, max: 20, step: 1 } },
  });
  const endless = faultsIn({
    config: 'a.yaml',
    method: 'grid',
    parameters: Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`p${at}`, thousand])),
  });
  const real = faultsIn({ config: 'a.yaml', method: 'grid', parameters: { a: { min: 0, max: 1 } } });

  expect(large).toEqual({
    parameters:
      'make a grid of 20000 points, and a sweep has at most 10000 trials; use fewer values, or method random, sobol or tpe',
  });
  expect(endless).toEqual({
    parameters:
      'make a grid of more than 10000 points, the most trials of a sweep; use fewer values, or method random, sobol or tpe',
  });
  expect(real).toEqual({ 'parameters.a': 'must have values or a step in a grid' });
});

test('a condition that never holds is refused', () => {
  const faults = faultsIn({
    config: 'a.yaml',
    trials: 5,
    parameters: {
      optimizer: { values: ['sgd', 'adam'] },
      lr: { min: 0, max: 1 },
      momentum: { min: 0, max: 1, if: { optimiser: 'sgd' } },
      beta: { min: 0, max: 1, if: { optimizer: 'adamw' } },
      nesterov: { values: [true, false], if: { optimizer: 'sgd' } },
      delay: { min: 0, max: 1, if: { nesterov: true, optimizer: 'adam' } },
      warm: { min: 0, max: 1, if: { lr: 0.5 } },
      self: { values: [1, 2], if: { self: 1 } },
      one: { values: [1, 2], if: { two: 1 } },
      two: { values: [1, 2], if: { one: 1 } },
    },
  });

  expect(faults).toEqual({
    'parameters.momentum.if.optimiser': 'is no parameter of the sweep; did you mean optimizer?',
    'parameters.beta.if.optimizer': 'never holds: optimizer must be one of sgd, adam',
    'parameters.delay.if': 'never holds: delay needs optimizer adam, nesterov needs optimizer sgd',
    'parameters.warm.if.lr': 'must be a parameter with values or a step',
    'parameters.self.if.self': 'must be another parameter',
    'parameters.one.if': 'goes in a circle: one, two, one',
    'parameters.two.if': 'goes in a circle: two, one, two',
  });
});

test('fixed first trials take values that the parameters can have', () => {
  const faults = faultsIn({
    config: 'a.yaml',
    trials: 3,
    parameters: {
      optimizer: { values: ['sgd', 'adam'] },
      momentum: { min: 0, max: 1, if: { optimizer: 'sgd' } },
      width: { min: 16, max: 64, step: 16 },
    },
    start: [{ width: 32 }, { width: 20 }, { optimizer: 'adam', momentum: 0.5 }, { with: 16, momentum: 2 }],
  });

  expect(faults).toEqual({
    start: 'must hold at most 3 trials, as many as the sweep has',
    'start.1.width': 'must be 16 plus a multiple of 16',
    'start.2.momentum': 'is set only with optimizer sgd',
    'start.3.with': 'is no parameter of the sweep; did you mean width?',
    'start.3.momentum': 'must be a number from 0 to 1',
  });
});

test('fixed first trials of a grid are whole points, each once', () => {
  const grid = {
    config: 'a.yaml',
    method: 'grid',
    parameters: { a: { values: [1, 2] }, b: { values: [3, 4] } },
  };

  expect(faultsIn({ ...grid, start: [{ a: 2, b: 3 }] })).toEqual({});
  expect(faultsIn({ ...grid, start: [{ a: 2 }, { a: 2, b: 4 }, { b: 4, a: 2 }] })).toEqual({
    'start.0': 'needs all parameters of a grid; without value: b',
    'start.2': 'is the same as start.1',
  });
});

test('a sweep has at most 10,000 experiments, and a repeat sets its seed itself', () => {
  const faults = faultsIn({
    config: 'a.yaml',
    trials: 5000,
    repeats: 3,
    repeat_seed: 'seed',
    parameters: { seed: { values: [1, 2] } },
  });

  expect(faults).toEqual({
    repeats: 'makes 15000 experiments with 5000 trials; a sweep has at most 10000',
    repeat_seed: 'must not be a parameter of the sweep: the number of the repeat is its value',
  });
});

test('a parameter that the configuration lacks is refused with the nearest name', () => {
  const spec = sweepOf({
    parameters: { lerning_rate: { values: [1, 2] }, zzz: { values: [1, 2] } },
    repeat_seed: 'sed',
  });

  const faults = faultsOfNames(spec, 'train.yaml', ['learning_rate', 'seed', 'model.depth']);

  expect(faults).toEqual([
    { name: 'parameters.lerning_rate', message: 'is no value of train.yaml; did you mean learning_rate?' },
    {
      name: 'parameters.zzz',
      message: 'is no value of train.yaml; allowed are learning_rate, seed, model.depth',
    },
    { name: 'repeat_seed', message: 'is no value of train.yaml; did you mean seed?' },
  ]);
});
