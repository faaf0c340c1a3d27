import { expect, test } from 'vitest';
import { anonymizer } from '../../../functions/links/anonymizer.ts';
import { hiddenParams } from '../../../functions/links/hidden-params.ts';
import { NameSearch } from '../../../functions/links/name-search.ts';

test('a user with an ordinary name is not told, a host with one may be', () => {
  const told = anonymizer({ usernames: ['Adam', ''], project_name: '' }, []);

  expect(['trained by adam', 'adam/loss', 'loss', 'madame'].map(told.shows)).toEqual([
    false,
    false,
    true,
    true,
  ]);
  expect(told.showsParam('optimizer', 'adam')).toBe(false);
  expect(anonymizer({ usernames: [], project_name: '' }, []).showsParam('optimizer', 'adam')).toBe(true);
});

test('the parts of a user, the run of CI, the owner of a repository and the project are not told', () => {
  const fields = {
    tags: { 'mlflow.source.git.repoURL': 'git@git.example:hopperlab/cobol.git' },
    params: { cwd: '/scratch/lamarr/run' },
    git: { commit: `${'0'.repeat(33)}badcafe`, branch: 'feature/hamilton-apollo', dirty: false },
  };
  const ci = {
    name: 'analytical/engine',
    actor: 'babbage',
    commit: null,
    ref: 'refs/heads/difference',
    run_id: '1',
  };
  const told = anonymizer({ usernames: ['grace.hopper'], project_name: 'Moonshot' }, [
    { ci, fields: { name: 'a', note: null, ...fields } as never },
  ]);
  const hidden = [
    ...['Hopper', 'by grace', 'hopperlab', 'cobol-2', 'lamarr', 'apollo', 'analytical', 'engine v2'],
    ...[
      'Babbage',
      'difference',
      'moonshot-7',
      '0000000badcafe',
      'x.pt of ~ada',
      'fe80::1:2:3:4',
      '0000-0002-1825-0097',
    ],
  ];

  expect(hidden.filter(told.shows)).toEqual([]);
  expect(['model.pt', 'val/loss', 'resnet50 at 2e-4', 'fold 3 of 5'].map(told.shows)).toEqual([
    true,
    true,
    true,
    true,
  ]);
});

test('names are found as words, and long ones anywhere, among thousands', () => {
  const names = new NameSearch({ isAnywhere: true });
  for (let index = 0; index < 5000; index += 1) names.add(`aaaaa${index}`);
  for (const name of ['ada', 'hopper', 'u-1', `${'long'.repeat(20)}x`]) names.add(name);
  const words = new NameSearch();
  for (const name of ['lr', 'secret_sauce']) words.add(name);

  const found = ['ada', 'x ada.', 'xhopperx', 'u-1', 'aaaaaa4999', `a${'long'.repeat(20)}x`];
  const others = ['adam', 'hoppe', 'u-12', 'aaaa', '', 'long'];
  expect(found.map((text) => names.isIn(text))).toEqual(found.map(() => true));
  expect(others.map((text) => names.isIn(text))).toEqual(others.map(() => false));
  expect(['optimizer.lr', 'lr_decay', '_secret_sauce_4'].map((text) => words.isIn(text))).toEqual([
    true,
    true,
    true,
  ]);
  expect(['hlr', 'lre', 'secret_sauces'].map((text) => words.isIn(text))).toEqual([false, false, false]);
});

test('names are found where a text joins them with a number', () => {
  const told = anonymizer({ usernames: ['ada'], project_name: '' }, []);

  expect(['ada2', 'fold3ada', 'run-of-ada01'].filter(told.shows)).toEqual([]);
  expect(told.shows('adam2')).toBe(true);
});

test('hidden params are found in names of runs, in every usual spelling', () => {
  const params = { lr: '0.1', learning_rate: '3e-4', batchSize: '32', epochs: '20' };
  const tracked = [{ name: 'a', note: null, tags: {}, params } as never];
  const told = hiddenParams(['lr', 'learning_rate', 'batchSize'], tracked);

  const hidden = [
    ...['baseline-lr0.1', 'lr1e-3', 'sgd0.1lr', 'learningRate=5', 'learningrate', 'LearningRate5'],
    ...['--batch-size 32', 'batch_size', 'batchsize32', 'BatchSize', 'adam3e-4', 'at 3e-4'],
  ];
  expect(hidden.filter(told.shows)).toEqual([]);
  expect(['epochs20', 'hlr', 'lre4', 'batches', 'resnet50'].filter((text) => !told.shows(text))).toEqual([]);
  expect(Object.entries(params).filter((param) => told.showsParam(...param))).toEqual([['epochs', '20']]);
});

test('users are not told by short parts of their names, without the dots, or with accents', () => {
  const told = anonymizer({ usernames: ['lin.wu', 'jose'], project_name: '' }, []);
  const hidden = ['Wu', 'by wu-2', 'linwu', 'LinWu-3', 'José', 'jose\u0301', 'Ｌｉｎ', 'lín.wu'];

  expect(hidden.filter(told.shows)).toEqual([]);
  expect(['wug', 'linear', 'online'].filter((text) => !told.shows(text))).toEqual([]);
});
