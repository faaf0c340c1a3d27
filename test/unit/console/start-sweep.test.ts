import { describe, expect, test } from 'vitest';
import {
  valuesOfCommand,
  valuesOfConfig,
} from '../../../functions/console/app/sweeps/start/present-values.ts';
import {
  draftAround,
  forGrid,
  listOf,
  type ParameterDraft,
  type Scalar,
  suggestSpace,
} from '../../../functions/console/app/sweeps/start/suggest-space.ts';
import {
  faultsAtFields,
  fieldNames,
  type SweepDraft,
  sweepRequest,
} from '../../../functions/console/app/sweeps/start/sweep-draft.ts';
import { ProblemError } from '../../../shared/client/problem-error.ts';
import { SweepSpec } from '../../../shared/sweeps/spec.ts';

const config = `learning_rate: 0.02
batch_size: 32
optimizer: sgd
shuffle: true
epochs: 120
seed: 1
model:
  dropout: 0.5
  widths: [64, 32]
`;
const blank = Object.fromEntries(fieldNames.map((name) => [name, ''])) as SweepDraft;
const draft: SweepDraft = { ...blank, config: 'train.yaml', method: 'tpe', trials: '20', parallel: '2' };
const varied = (drafts: readonly ParameterDraft[]) =>
  drafts.filter(({ kind }) => kind !== 'fixed').map(({ name }) => name);

describe('a suggested search', () => {
  test('varies the usual values of a configuration, and is a sweep as it is', () => {
    const space = suggestSpace(valuesOfConfig('train.yaml', config));

    const request = sweepRequest(draft, space);

    expect(SweepSpec.parse(request).parameters).toEqual({
      learning_rate: { min: 0.002, max: 0.2, scale: 'log' },
      batch_size: { min: 16, max: 64, step: 1 },
      'model.dropout': { min: 0.25, max: 0.75 },
    });
  });

  test('varies the first number if no name is usual, but no seed and no number of epochs', () => {
    const space = suggestSpace(valuesOfConfig('a.yaml', 'seed: 3\nepochs: 9\nsmoothing: 0.3\nother: 2.5\n'));

    expect(varied(space)).toEqual(['smoothing']);
  });

  test('varies all numbers of a run around their values there, at most eight', () => {
    const many = Array.from({ length: 20 }, (_, index) => [`n${index}`, index + 2] as const);
    const run = { ...Object.fromEntries(many.map(([name, value]) => [name, String(value * 10)])), lr: '0.5' };

    const space = suggestSpace([...many, ['lr', 0.1]], run);

    expect(varied(space)).toEqual(['n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'lr']);
    expect(space.at(-1)).toMatchObject({ present: 0.1, value: '0.5', min: '0.05', max: '5', scale: 'log' });
  });

  test('keeps the values of a run that differ from the configuration', () => {
    const space = suggestSpace(valuesOfConfig('train.yaml', config), { optimizer: 'adam', shuffle: 'true' });

    expect(sweepRequest(draft, space)).toMatchObject({ parameters: { optimizer: { value: 'adam' } } });
    expect(sweepRequest(draft, space)['parameters']).not.toHaveProperty('shuffle');
  });

  test.each([
    [0.02, ['0.002', '0.2', '', 'log']],
    [1e-5, ['0.000001', '0.0001', '', 'log']],
    [0.9, ['0.45', '0.95', '', 'linear']],
    [1, ['1', '2', '1', 'linear']],
    [123_456, ['61728', '246912', '1', 'linear']],
    [2.5, ['1.25', '5', '', 'linear']],
    [0, ['0', '1', '', 'linear']],
    [-4, ['-8', '-2', '', 'linear']],
  ] as const)('around %s is a range that a sweep takes', (value, expected) => {
    const one = { ...draftAround('x', value, value), kind: 'range' as const };

    expect([one.min, one.max, one.step, one.scale]).toEqual(expected);
    expect(SweepSpec.safeParse(sweepRequest(draft, [one])).error).toBeUndefined();
  });

  test.each([
    ['learning_rate', 0.2, ['0.02', '2', 'log']],
    ['optimizer.lr', 1, ['0.1', '10', 'log']],
    ['dropout', 0.2, ['0.1', '0.6', 'linear']],
  ] as const)('of %s %s has the scale of its name', (name, value, expected) => {
    const { min, max, scale } = draftAround(name, value, value);

    expect([min, max, scale]).toEqual(expected);
  });

  test.each([
    [true, ['true', 'false'], [true, false]],
    ['sgd, "x"', ['sgd, "x"'], ['sgd, "x"']],
    [4, ['2', '4', '8'], [2, 4, 8]],
  ] as const)('has a list for %s', (value, texts, values) => {
    const one = { ...draftAround('x', value as Scalar, value as Scalar), kind: 'values' as const };

    expect(listOf(one.values)).toEqual(texts);
    expect(sweepRequest(draft, [one])['parameters']).toEqual({ x: { values } });
  });

  test('has lists in a grid where a range has no step', () => {
    const [rate, batch] = suggestSpace([
      ['lr', 0.01],
      ['batch_size', 8],
    ]).map(forGrid);

    expect(rate).toMatchObject({ kind: 'values', values: '0.001, 0.01, 0.1' });
    expect(batch).toMatchObject({ kind: 'range', step: '1' });
  });
});

describe('values that a sweep can replace', () => {
  test('are the single values of a configuration, with their paths', () => {
    expect(valuesOfConfig('a.json', '{"a": {"b": [1, null]}, "c": "x"}')).toEqual([
      ['a.b.0', 1],
      ['a.b.1', null],
      ['c', 'x'],
    ]);
    expect(valuesOfConfig('a.yaml', 'a: [')).toEqual([]);
  });

  test('are the flags of a command that have one value', () => {
    const command = 'python train.py --lr 0.1 --layers 64 64 --name {config} --home $HOME --fast --opt=adam';

    expect(valuesOfCommand(command)).toEqual([
      ['lr', 0.1],
      ['fast', true],
      ['opt', 'adam'],
    ]);
    expect(valuesOfCommand('python "train.py')).toEqual([]);
  });
});

describe('the request of a form', () => {
  test('has what was typed, so that the service tells its faults', () => {
    const typed = { ...draft, trials: 'many', budget: '5', 'stop.rule': 'asha', 'stop.step_min': '3' };
    const range = { ...draftAround('lr', 0.1, 0.1), kind: 'range' as const, min: '', max: 'x' };

    expect(sweepRequest(typed, [range])).toMatchObject({
      trials: 'many',
      budget: 5,
      stop: { rule: 'asha', step_min: 3 },
      parameters: { lr: { max: 'x' } },
    });
  });

  test('leaves out what the sampler or the rule does not read', () => {
    expect(sweepRequest({ ...draft, method: 'grid' }, [])).not.toHaveProperty('trials');
    expect(sweepRequest({ ...draft, 'stop.rule': 'median', 'stop.reduction': '4' }, [])['stop']).toEqual({
      rule: 'median',
    });
  });

  test('is refused at the bounds of a range without any', () => {
    const range = { ...draftAround('a.b', 'x', 'x'), kind: 'range' as const };

    const { error } = SweepSpec.safeParse(sweepRequest(draft, [range]));

    expect(error?.issues.map(({ path }) => path.join('.'))).toContain('parameters.a.b.min');
  });
});

test('faults appear at the field with the longest name that begins theirs', () => {
  const names = [
    'parameters.a.b.min',
    'parameters.a',
    'parameters',
    'budget',
    'rules',
    'parameters.c.values.1',
  ];
  const errors = names.map((name) => ({ in: 'body', name, message: `${name} is wrong` }));
  const found = faultsAtFields(new ProblemError(400, { errors }, ''), [
    { name: 'a', kind: 'fixed' },
    { name: 'a.b', kind: 'range' },
    { name: 'c', kind: 'values' },
  ]);

  expect(found).toEqual({
    at: {
      'parameters.a.b.min': 'parameters.a.b.min is wrong',
      'parameters.a': 'parameters.a is wrong',
      parameters: 'parameters is wrong',
      budget: 'budget is wrong',
      'parameters.c.values': 'parameters.c.values.1 is wrong',
    },
    others: ['rules rules is wrong'],
  });
  expect(faultsAtFields(new Error('away'), [])).toBeUndefined();
});
