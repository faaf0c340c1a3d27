import { describe, expect, test } from 'vitest';
import { readConda } from '../../../../../shared/runner/environment/declarations/conda.ts';
import { readPyproject } from '../../../../../shared/runner/environment/declarations/pyproject.ts';
import { readScriptBlock } from '../../../../../shared/runner/environment/declarations/script-block.ts';
import {
  readSetupCfg,
  readSetupPy,
} from '../../../../../shared/runner/environment/declarations/setup-files.ts';

describe('a file of conda', () => {
  test('gives its pip part, and what pip has of the rest', () => {
    const content = `
name: demo
channels: [pytorch, conda-forge]
dependencies:
  - python=3.10
  - conda-forge::numpy=1.26=py310h_0
  - pytorch>=2.1
  - cudatoolkit=11.8
  - pip
  - pip:
      - six==1.16.0
      - -r extra.txt
`;
    expect(readConda('environment.yml', content)).toEqual({
      requirements: ['numpy==1.26.*', 'torch>=2.1', 'six==1.16.0', '-r extra.txt'],
      condaOnly: ['cudatoolkit=11.8'],
      python: '3.10',
    });
  });

  test('of MLflow lists requirement lines', () => {
    const content = 'python: "3.9"\nbuild_dependencies: [pip]\ndependencies: [mlflow>=2, scikit-learn]\n';
    expect(readConda('python_env.yaml', content)).toEqual({
      requirements: ['mlflow>=2', 'scikit-learn'],
      condaOnly: [],
      python: '3.9',
    });
  });

  test('that is no environment is refused by its name', () => {
    expect(() => readConda('conda.yaml', 'dependencies: 3')).toThrow(/^conda\.yaml cannot be read: /);
  });
});

describe('the block of a script', () => {
  test('names packages and versions of Python', () => {
    const script = `#!/usr/bin/env python\n# /// script\n# requires-python = ">=3.11"\n# dependencies = [\n#   "six==1.16.0",\n# ]\n# ///\nimport six\n`;
    expect(readScriptBlock('train.py', script)).toEqual({ requirements: ['six==1.16.0'], python: '>=3.11' });
  });

  test('is absent in most programs', () => {
    expect(readScriptBlock('train.py', '# /// other\n# a = 1\n# ///\n')).toBeUndefined();
  });

  test('that cannot be read is refused by the name of the program', () => {
    const script = '# /// script\n# dependencies = six\n# ///\n';
    expect(() => readScriptBlock('train.py', script)).toThrow(/^train\.py: its block "# \/\/\/ script"/);
  });
});

describe('setuptools', () => {
  test('setup.cfg lists requirements below its key', () => {
    const content =
      '[metadata]\nname = a\n[options]\ninstall_requires =\n    numpy  # arrays\n    scipy>=1; python_version > "3"\npackages = find:\n';
    expect(readSetupCfg(content).requirements).toEqual(['numpy', 'scipy>=1; python_version > "3"']);
    expect(readSetupCfg('[metadata]\ninstall_requires = a\n').requirements).toBeUndefined();
  });

  test.each([
    ['setup(install_requires=["numpy", \'scipy[all]>=1\',],)', ['numpy', 'scipy[all]>=1']],
    ['setup(\n install_requires = [\n  "a",  # first\n  "b"\n ])', ['a', 'b']],
    ['setup(install_requires=open("r.txt").read())', undefined],
    ['setup(install_requires=["a", NAME])', undefined],
    ['setup()', undefined],
    [
      'setup(install_requires=["a @ https://example.com/a.zip#egg=a", "b"])',
      ['a @ https://example.com/a.zip#egg=a', 'b'],
    ],
    ['setup(install_requires=["a" "b"])', undefined],
    ['setup(install_requires=["a"', undefined],
  ])('%j of setup.py lists %j', (content, expected) => {
    expect(readSetupPy(content).requirements).toEqual(expected);
  });

  test('setup.cfg limits Python and has extras', () => {
    const content =
      '[options]\npython_requires = >=3.9\n[options.extras_require]\ntrain =\n  torch\n  tqdm\ndocs = sphinx\n';
    expect(readSetupCfg(content)).toEqual({
      requirements: undefined,
      extras: { train: ['torch', 'tqdm'], docs: ['sphinx'] },
      python: '>=3.9',
    });
  });

  test('setup.py may name variables of its module', () => {
    const content =
      'REQUIRED = [\n  "numpy",\n]\nEXTRAS = {"train": ["torch[a]"], "docs": []}\nsetup(install_requires=REQUIRED, extras_require=EXTRAS, python_requires=">=3.8")\n';
    expect(readSetupPy(content)).toEqual({
      requirements: ['numpy'],
      extras: { train: ['torch[a]'], docs: [] },
      python: '>=3.8',
    });
    expect(readSetupPy('setup(extras_require={"a": read("a.txt")})').extras).toBeUndefined();
  });
});

describe('pyproject.toml', () => {
  test('names the files in which setuptools finds the requirements', () => {
    const content =
      '[project]\nname = "a"\ndynamic = ["dependencies"]\n[tool.setuptools.dynamic]\ndependencies = {file = ["requirements/base.in"]}\n';
    expect(readPyproject(content).requirements).toEqual(['-r requirements/base.in']);
  });

  test('limits the versions of Python, in the words of poetry too', () => {
    expect(readPyproject('[project]\nrequires-python = ">=3.12"\n').python).toBe('>=3.12');
    const poetry = '[tool.poetry.dependencies]\npython = "^3.9"\nnumpy = "^1.2"\n';
    expect(readPyproject(poetry)).toMatchObject({ python: '>=3.9,<4', requirements: ['numpy>=1.2,<2'] });
  });
});

// Each would take longer than a test may, if a choice were tried again for each of its beginnings.
describe('a hostile file is read in linear time', () => {
  const rule = '#'.repeat(60);

  test.each([
    `setup(extras_require={\n${rule}\nx})`,
    `setup(extras_require={${"'a':[".repeat(100_000)}})`,
    `setup(install_requires=[${'['.repeat(100_000)}`,
    `setup(install_requires=[${`"'`.repeat(100_000)}])`,
  ])('setup.py', (content) => {
    const { requirements, extras } = readSetupPy(content);

    expect([requirements, extras]).toContain(undefined);
  });

  test('a program with many beginnings of a block', () => {
    expect(readScriptBlock('train.py', '# /// script\n'.repeat(100_000))).toBeUndefined();
  });
});

test('extras stand among comments that are rules', () => {
  const rule = '#'.repeat(60);
  const content = `setup(extras_require={\n${rule}\n# tests\n${rule}\n"test": ["pytest"],  # and more\n})`;

  expect(readSetupPy(content).extras).toEqual({ test: ['pytest'] });
});
