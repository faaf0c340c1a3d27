import { expect, test } from 'vitest';
import { type BaseRun, chooseBase, ciTag } from '../../../../cli/ci/choose-base.ts';

const run = (experiment_id: string, commit: string, more: Partial<BaseRun> = {}): BaseRun => ({
  ...{ experiment_id, status: 'SUCCEEDED', command: 'python train.py', sweep_id: null, tags: {} },
  ...{ params: { lr: '0.1', seed: '1' }, git: { commit, branch: null, dirty: false } },
  ...more,
});
const chosen = (runs: readonly BaseRun[], seed?: string) =>
  chooseBase(runs, {
    ancestors: ['c3', 'c2', 'c1'],
    head: [run('head', 'h')],
    file: '.mps/ci.yaml',
    seed,
  }).base.map(({ experiment_id }) => experiment_id);
const tags = { [ciTag]: '.mps/ci.yaml' };

test('the base is the newest run on the nearest commit of the target branch', () => {
  // The newest run is a repetition of an old commit.
  expect(chosen([run('a', 'c1'), run('b', 'c2'), run('c', 'other'), run('d', 'c1')])).toEqual(['b']);
  expect(chosen([run('a', 'other'), run('head', 'c3')])).toEqual([]);
});

test('runs that differ in their seeds alone count together', () => {
  const seeds = [run('a', 'c2', { params: { lr: '0.1', seed: '2' } }), run('b', 'c2')];
  expect(chosen([...seeds, run('c', 'c2', { params: { lr: '0.2', seed: '1' } })])).toEqual(['a', 'b']);
  const named = ['1', '2'].map((shuffle) => run(shuffle, 'c2', { params: { shuffle } }));
  expect(chosen(named, 'shuffle')).toEqual(['1', '2']);
  expect(chosen(named)).toEqual(['1']);
});

test('other programs, sweeps, changed folders and failures do not count; runs of the same file do first', () => {
  const none = [
    run('a', 'c3', { command: 'python eval.py' }),
    run('b', 'c3', { sweep_id: 's' }),
    run('c', 'c3', { git: { commit: 'c3', branch: null, dirty: true } }),
    run('d', 'c3', { status: 'FAILED' }),
    run('e', 'c3', { git: null }),
  ];
  expect(chosen(none)).toEqual([]);
  expect(chosen([...none, run('f', 'c2'), run('g', 'c2', { tags })])).toEqual(['g']);
  const dirty = { commit: 'c3', branch: null, dirty: true };
  expect(chosen([run('h', 'c3', { tags, git: dirty, command: 'python train.py --seed 3' })])).toEqual(['h']);
});

test('the commits before the base have one run each of its settings, the nearest first', () => {
  const other = run('d', 'c1', { params: { lr: '0.2', seed: '1' } });
  const runs = [run('a', 'c1'), run('b', 'c3'), run('c', 'c2', { params: { lr: '0.1', seed: '2' } }), other];

  const { base, earlier } = chooseBase([...runs, run('e', 'c2'), run('f', 'c1')], {
    ...{ ancestors: ['c3', 'c2', 'c1'], head: [run('head', 'h')], file: '.mps/ci.yaml', seed: undefined },
  });

  expect(base.map(({ experiment_id }) => experiment_id)).toEqual(['b']);
  expect(earlier.map(({ experiment_id }) => experiment_id)).toEqual(['c', 'a']);
});
