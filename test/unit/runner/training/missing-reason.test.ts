import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { missingReason } from '../../../../shared/runner/training/missing-reason.ts';

const notes = {
  whole: 'mps run --root ..',
  left_out: [
    { path: 'data/', why: 'ignored', advice: 'mps data push data ../data', dataset: 'data' },
    { path: 'app/w.pt', why: 'ignored', advice: 'mps data push w.pt w.pt --as-file', dataset: 'w.pt' },
    { path: 'lib/', why: 'submodule', advice: 'git submodule update --init ../lib' },
  ],
} as const;

const reasonOf = (crash: string, linked?: string) =>
  missingReason(
    crash,
    { ...notes, left_out: [...notes.left_out] },
    { source: '/w/source', folder: '/w/source/app', linked },
  );

const pushData =
  '../data/ was left out by .gitignore. To have it there: mps data push data ../data, then mps run --dataset data';
const pushWeights =
  'w.pt was left out by .gitignore. To have it there: mps data push w.pt w.pt --as-file, then mps run --dataset w.pt';
const submodule =
  '../lib/ is a git submodule that was not checked out. To send it: git submodule update --init ../lib';
const whole = 'Only this folder of its git repository was sent. To send all of it: mps run --root ..';

const packageNamed = (module: string, name: string) =>
  `If ${module} is a package, list ${name} with the packages of the folder (requirements.txt, pyproject.toml …), or in mps.yaml: environment: { type: python, dependencies: "${name}" }.`;

test.each([
  ["FileNotFoundError: [Errno 2] No such file or directory: '../data/my x.csv'", pushData],
  ['FileNotFoundError: No such file or directory (os error 2): ../data/x.csv', pushData],
  ["Error: ENOENT: no such file or directory, open '/w/source/data'", pushData],
  [
    "FileNotFoundError: [Errno 2] Unable to synchronously open file (unable to open file: name = 'w.pt', errno = 2)",
    pushWeights,
  ],
  ["ModuleNotFoundError: No module named 'lib.mod'", submodule],
  [
    "ModuleNotFoundError: No module named 'data'",
    '../data/ was left out by .gitignore. To send it, take it out of .gitignore: git excludes it, too.',
  ],
  ["ModuleNotFoundError: No module named 'common'", `${whole} ${packageNamed('common', 'common')}`],
  ["ModuleNotFoundError: No module named 'common.parts'", whole],
  ["FileNotFoundError: [Errno 2] No such file or directory: '../../x'", whole],
  ["FileNotFoundError: [Errno 2] No such file or directory: 'other/x.csv'", undefined],
  ["ValueError: bad value in '../data/x.csv'", undefined],
])('%s', (crash, expected) => {
  expect(reasonOf(crash)).toBe(expected);
});

test('a path at which the data set was is not missing for that reason', () => {
  expect(reasonOf("FileNotFoundError: '../data/y.csv' not found", 'data/')).toBeUndefined();
});

describe('a package that the environment lacks', () => {
  let source: string;
  beforeEach(async () => {
    source = await mkdtemp(join(tmpdir(), 'missing-reason-'));
  });
  afterEach(() => rm(source, { recursive: true, force: true }));

  test.each([
    ["ModuleNotFoundError: No module named 'numpy'", packageNamed('numpy', 'numpy')],
    ["ModuleNotFoundError: No module named 'sklearn'", packageNamed('sklearn', 'scikit-learn')],
    ["ModuleNotFoundError: No module named 'keras.utils.np_utils'", undefined],
    [
      "Error: Cannot find module 'left-pad'",
      'The package left-pad is not installed. List it in package.json.',
    ],
    [
      "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@scope/name' imported from /w/source/train.js",
      'The package @scope/name is not installed. List it in package.json.',
    ],
    ["Error: Cannot find module './lib/part.js'", undefined],
    ["Error: Cannot find module '/w/source/train.js'", undefined],
  ])('%s', (crash, expected) => {
    expect(missingReason(crash, {}, { source, folder: source, linked: undefined })).toBe(expected);
  });

  test('is no module of the source, which another search path finds', async () => {
    await mkdir(join(source, 'lib'));
    const place = { source, folder: join(source, 'app'), linked: undefined };
    expect(missingReason("ModuleNotFoundError: No module named 'lib'", {}, place)).toBeUndefined();
  });
});
