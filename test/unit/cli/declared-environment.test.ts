import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chooseEntryPoint } from '../../../cli/run/entry-point.ts';
import { checkedEnvironment } from '../../../cli/run/environment/checked-environment.ts';
import { entryPointCommand } from '../../../cli/run/environment/mlproject.ts';
import { movedEnvironment } from '../../../cli/run/environment/moved-environment.ts';
import { resolveDependencies } from '../../../shared/runner/environment/dependencies/resolved-dependencies.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-declared-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function chooseOf(
  files: Readonly<Record<string, string>>,
  python?: string,
  known?: readonly string[],
  indexes = ['pypi.org'],
) {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  const projectFile = python === undefined ? {} : { python };
  const source = { root: folder, sub: '' };
  const words = ['python', 'train.py'];
  return checkedEnvironment(source, Object.keys(files), projectFile, words, async () => ({
    pythons: known,
    indexes,
  }));
}

test('the block of the program comes before the files of the folder', async () => {
  const block = '# /// script\n# requires-python = ">=3.9"\n# dependencies = ["six==1.16.0"]\n# ///\n';
  const chosen = await chooseOf({ 'train.py': block, 'requirements.txt': 'numpy' });
  expect(chosen).toMatchObject({ dependencies: 'six==1.16.0\npython>=3.9', reason: 'block in train.py' });
});

test('MLproject names its environment, and says what is not followed', async () => {
  const chosen = await chooseOf({
    MLproject: 'name: demo\nconda_env: env/conda.yaml\n',
    'env/conda.yaml': 'dependencies: [python=3.8, mkl, {pip: [six]}]',
  });
  expect(chosen).toMatchObject({ dependencies: 'six', reason: 'env/conda.yaml, which MLproject names' });
  expect(chosen.notes?.join('\n')).toMatch(/not installed.*: mkl \(line 1\)\.[\s\S]*Python 3\.8 is a wish/);
  const pinned = await chooseOf({ 'environment.yml': 'dependencies: [python==3.8.5, six]' });
  expect(pinned.notes?.join()).toContain(`"python: '3.8'" in mps.yaml makes it a condition`);
  const ranged = await chooseOf({ 'environment.yml': "dependencies: ['python>=3.8', six]" });
  expect(ranged.notes?.join()).toContain(`"python: '>=3.8'" in mps.yaml`);
});

test('python of mps.yaml replaces the condition of the project', async () => {
  const files = {
    'pyproject.toml': '[project]\nname="a"\nversion="1"\nrequires-python=">=3.9"\ndependencies=["six"]\n',
  };
  expect((await chooseOf(files)).dependencies).toBe('six\npython>=3.9');
  expect((await chooseOf(files, '3.12')).dependencies).toBe('six\npython==3.12.*');
});

test.each([
  ['>=3.12', '3.10', 'python of mps.yaml'],
  ['>=3.12', undefined, 'requires-python of pyproject.toml'],
])('Python %s or %s that the service does not have is refused by %s', async (requires, python, where) => {
  const files = { 'pyproject.toml': `[project]\nname="a"\nversion="1"\nrequires-python="${requires}"\n` };
  const refused = expect(chooseOf(files, python, ['3.11.2'])).rejects;
  await refused.toMatchObject({ exitCode: 2, message: expect.stringMatching(`^${where}: needs Python `) });
  await refused.toThrow('the service has 3.11.2.');
  const chosen = await chooseOf(files, python, ['3.11.2', '3.10.1', '3.12.0']);
  expect(chosen).toMatchObject({ env_type: 'python' });
});

test('conditions that no Python meets are refused without asking the service', async () => {
  const files = {
    'requirements.txt': 'six\n-e ./lib\n',
    'pyproject.toml': '[project]\nname="a"\nversion="1"\nrequires-python=">=3.12"\n',
    'lib/setup.cfg': '[options]\npython_requires = <3.11\n',
  };
  await expect(chooseOf(files)).rejects.toMatchObject({
    exitCode: 2,
    message:
      'requires-python of pyproject.toml: needs Python >=3.12; python_requires of lib/setup.cfg: needs Python <3.11; no version meets all of these.',
  });
});

test.each([
  ['mps.yaml', {}, '==banana.*'],
  ['pyproject.toml', { 'pyproject.toml': '[project]\nname="a"\nrequires-python="3.9"\n' }, undefined],
  ['block in train.py', { 'train.py': '# /// script\n# requires-python = "six"\n# ///\n' }, undefined],
])('what is no version of Python in %s never becomes a package', async (where, files, python) => {
  await expect(chooseOf(files, python === undefined ? undefined : 'banana')).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(`${where}: ".*" is not a condition on the version of Python`),
  });
});

test('python of mps.yaml makes an environment where no packages are declared', async () => {
  expect(await chooseOf({ 'train.py': '' }, '3.12')).toMatchObject({
    env_type: 'python',
    dependencies: 'python==3.12.*',
  });
  await expect(chooseOf({ 'package.json': '{}' }, '3.12')).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining("this folder's is node (package.json)"),
  });
});

test('a file that nothing reads is named', async () => {
  const chosen = await chooseOf({ 'setup.py': 'setup(install_requires=read())', 'train.py': '' });
  expect(chosen.env_type).toBe('system');
  expect(chosen.notes?.join()).toContain('Seen and not read: setup.py');
});

test('a setup.py that names no packages is not called unread', async () => {
  const chosen = await chooseOf({ 'setup.py': 'setup(name="a")  # no install_requires', 'train.py': '' });
  expect(chosen.env_type).toBe('system');
  expect(chosen.notes).toEqual([expect.stringMatching(/^setup\.py names no packages\. List what/)]);
});

test('what the service would refuse is an error of usage with its line', async () => {
  const files = { 'requirements.txt': '-r more.txt', 'more.txt': 'six\n-e ../lib\n' };
  await expect(chooseOf(files)).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining(
      'more.txt: line 2: "-e ../lib": -e takes . or a folder inside the source',
    ),
  });
});

test('an editable folder brings what its project requires', async () => {
  const files = {
    'requirements.txt': '-e ./lib[all]\n-c pins.txt',
    'pins.txt': 'six==1.16.0\n',
    'lib/pyproject.toml':
      '[project]\nname="lib"\nversion="1"\ndependencies=["six"]\noptional-dependencies={all=["numpy"]}\n',
  };
  await expect(chooseOf(files)).resolves.toMatchObject({ dependencies: '-r requirements.txt' });
  await expect(chooseOf({ ...files, 'requirements.txt': '-e ./lib[none]' })).rejects.toThrow(
    'lib/pyproject.toml: has no extra "none"; it has all',
  );
});

describe('the command of an MLproject', () => {
  const project = (parameters: string, name = 'main') =>
    `entry_points:\n  ${name}:\n    parameters: ${parameters}\n    command: "python train.py {alpha} {n}"\n`;
  const given = (values: Readonly<Record<string, unknown>> = {}) => new Map(Object.entries(values));

  test('takes the defaults of its parameters, and values of -S', () => {
    const content = project('{alpha: 0.5, n: {type: int, default: 3}}');
    expect(entryPointCommand(content, given())).toEqual({ command: 'python train.py 0.5 3', isGiven: false });
    expect(entryPointCommand(content, given({ alpha: 0.1, other: 1 }))).toEqual({
      command: 'python train.py 0.1 3',
      isGiven: true,
    });
    const hostile = entryPointCommand(content, given({ n: '1; rm x' }));
    expect(hostile).toEqual({ command: "python train.py 0.5 '1; rm x'", isGiven: true });
  });

  test('needs a value for a parameter without a default', () => {
    const content = project('{alpha: float, n: 3}');
    expect(entryPointCommand(content, given())).toEqual({
      fault: expect.stringMatching(/^MLproject: alpha has no default\.\n.*mps run -S alpha=…\n/),
    });
    expect(entryPointCommand(content, given({ alpha: 2 }))).toMatchObject({ command: 'python train.py 2 3' });
  });

  test('is that of the only entry point, whatever its name', () => {
    const content = project('{alpha: 1, n: 3}', 'train');
    expect(entryPointCommand(content, given())).toMatchObject({ command: 'python train.py 1 3' });
    const several = `${content}  other: {command: ls}\n`;
    expect(entryPointCommand(several, given())).toBeUndefined();
    expect(entryPointCommand(several, given(), 'other')).toEqual({ command: 'ls', isGiven: true });
  });
});

describe('the entry points of an MLproject', () => {
  const content = 'entry_points: {main: {command: python a.py}, check: {command: python b.py}}';
  const files = new Set(['MLproject']);
  const choose = (given: { words?: string[]; entryPoint?: string }, command?: string) =>
    chooseEntryPoint(folder, files, { words: [], overrides: [], ...given }, command);
  beforeEach(() => writeFile(join(folder, 'MLproject'), content));

  test('are named where main runs for want of a choice', async () => {
    expect(await choose({})).toEqual({
      command: undefined,
      declared: { command: 'python a.py', isGiven: false },
      note: 'MLproject runs its entry point main; --entry-point chooses another: check.',
    });
    await writeFile(join(folder, 'MLproject'), content.replace('main', 'train'));
    expect((await choose({})).note).toBe(
      'MLproject has no entry point main; --entry-point chooses another: train, check.',
    );
  });

  test('can be chosen, before the command of mps.yaml', async () => {
    expect(await choose({ entryPoint: 'check' }, 'python c.py')).toEqual({
      command: undefined,
      declared: { command: 'python b.py', isGiven: true },
    });
    expect(await choose({}, 'python c.py')).toEqual({ command: 'python c.py' });
  });

  test('are refused where they cannot be chosen, with what is there', async () => {
    await expect(choose({ entryPoint: 'chek' })).rejects.toThrow(
      '--entry-point chek: MLproject has main, check.',
    );
    await expect(choose({ entryPoint: 'check', words: ['ls'] })).rejects.toThrow(
      'the command after -- is another',
    );
    files.delete('MLproject');
    await expect(choose({ entryPoint: 'check' })).rejects.toThrow('this folder has no MLproject');
  });
});

test('other declarations than the chosen one are named', async () => {
  const chosen = await chooseOf({
    'requirements.txt': 'six\n',
    'pyproject.toml': '[project]\nname="a"\nversion="1"\ndependencies=["numpy"]\n',
    'environment.yml': 'dependencies: []\n',
  });
  expect(chosen.notes).toEqual([
    'Seen and not read, because requirements.txt decides: pyproject.toml, environment.yml.',
  ]);
});

test.each(['-e .', '--editable=.[dev] # all', '-e ./'])(
  "a folder's own project is not called unread where requirements install it: %s",
  async (line) => {
    const chosen = await chooseOf({
      'requirements.txt': `six\n${line}\n`,
      'pyproject.toml':
        '[project]\nname="a"\nversion="1"\ndependencies=["numpy"]\n[project.optional-dependencies]\ndev=[]\n',
    });
    expect(chosen.notes).toEqual([]);
  },
);

test("conda's own packages are named with their lines", async () => {
  const content = 'dependencies:\n  - numpy\n  - mkl=2024\n  - pip: [six]\n';
  const { notes = [], dependencies } = await chooseOf({ 'conda.yaml': content });
  expect(dependencies).toBe('numpy\nsix');
  expect(notes[0]).toMatch(/^conda\.yaml: not installed, .*: mkl=2024 \(line 3\)\./);
});

test('requirements that contradict each other are refused with their files and lines', async () => {
  const files = {
    'requirements.txt': '-c pins.txt\nnumpy\nsix==1.17.0\n',
    'pins.txt': '# agreed\nsix==1.16.0\n',
  };
  await expect(chooseOf(files)).rejects.toMatchObject({
    exitCode: 2,
    message:
      'six: no version meets six==1.16.0 (pins.txt: line 2) and six==1.17.0 (requirements.txt: line 3)',
  });
});

test('a folder of a larger source has its own requirements, else those of the nearest folder above', async () => {
  const chooseIn = async (files: Readonly<Record<string, string>>, sub = 'app') => {
    const source = { root: folder, sub };
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    return checkedEnvironment(source, Object.keys(files), {}, []);
  };

  const ofSource = await chooseIn({ 'requirements.txt': 'six', 'app/train.py': '' });
  const own = await chooseIn({ 'base.txt': 'six', 'app/requirements.txt': '-r ../base.txt' });
  const nearest = await chooseIn(
    {
      'pyproject.toml': '[project]\nname="a"\nrequires-python=">=3.9"\n',
      'app/requirements.txt': 'six',
      'app/xor/train.py': '',
    },
    'app/xor',
  );

  expect(ofSource).toMatchObject({ dependencies: '-r requirements.txt', reason: 'requirements.txt of ..' });
  expect(own).toMatchObject({ dependencies: '-r app/requirements.txt', reason: 'requirements.txt' });
  expect(nearest).toMatchObject({
    dependencies: '-r app/requirements.txt',
    reason: 'requirements.txt of ..',
  });
});

test.each([
  ['-r ../base.txt', '-r base.txt'],
  ['-c constraints.txt', '-c app/constraints.txt'],
  ['-e .', '-e ./app'],
  ['-e ../lib[dev]', '-e ./lib[dev]'],
  ['./x.whl ; python_version > "3.9"', './app/x.whl ; python_version > "3.9"'],
  ['numpy>=2', 'numpy>=2'],
])('paths of %j are those of the larger source', (dependencies, moved) => {
  const chosen = { env_type: 'python', dependencies, reason: 'mps.yaml says so' } as const;
  expect(movedEnvironment(chosen, 'app').dependencies).toBe(moved);
});

describe('packages with places of their own', () => {
  const project = (name: string, dependencies: string[], more = '') =>
    `[project]\nname = "${name}"\nversion = "1"\ndependencies = ${JSON.stringify(dependencies)}\n${more}`;
  const resolved = async (files: Readonly<Record<string, string>>) => {
    const chosen = await chooseOf(files, undefined, undefined, ['corp.example', 'cpu.example']);
    const { dependencies, folders } = await resolveDependencies(chosen, folder, 'any');
    const told = dependencies.map((one) =>
      'spec' in one ? one.spec : 'value' in one ? `--${one.name} ${one.value}` : one.path,
    );
    return { told: told.sort(), folders };
  };
  const members = '[tool.uv.workspace]\nmembers = ["packages/*", "tools/one"]\n';

  test('are members of a uv workspace, of members, too, and never those of an index', async () => {
    const sources =
      '[tool.uv.sources]\nCore = { workspace = true }\nutil = [{ workspace = true }]\nnear = { path = "near" }\n';
    const files = {
      'pyproject.toml': project('demo', ['core[fast]>=1', 'near', 'numpy'], `${sources}${members}`),
      'packages/core/pyproject.toml': project(
        'core',
        ['util', 'six'],
        '[project.optional-dependencies]\nfast = ["numba"]\n',
      ),
      'packages/core/src/core/__init__.py': '',
      'tools/one/pyproject.toml': project('util', ['tqdm']),
      'near/pyproject.toml': project('near', []),
    };
    expect(await resolved(files)).toEqual({
      told: ['numba', 'numpy', 'six', 'tqdm'],
      folders: ['.', 'near', 'packages/core/src', 'tools/one'],
    });
  });

  test('are those of uv.lock, whose folders are in the source', async () => {
    const lock = [
      ['demo', '{ virtual = "." }', 'dependencies = [{ name = "core" }]'],
      ['core', '{ editable = "packages/core" }', 'dependencies = [{ name = "six" }]'],
      ['six', '{ registry = "https://pypi.org/simple" }', ''],
    ].map(
      ([name, source, more]) =>
        `[[package]]\nname = "${name}"\nversion = "1.16.0"\nsource = ${source}\n${more}\n`,
    );
    const files = { 'uv.lock': `version = 1\n${lock.join('')}`, 'pyproject.toml': project('demo', ['core']) };
    expect((await chooseOf(files)).added?.content).toBe('-e ./packages/core\nsix==1.16.0\n');
  });

  test('come from the indexes and URLs that uv, poetry and pdm name', async () => {
    const uv =
      '[tool.uv.sources]\ntorch = { index = "cpu" }\none = { url = "https://files.example/one-1.0-py3-none-any.whl" }\n[[tool.uv.index]]\nname = "cpu"\nurl = "https://cpu.example/whl"\nexplicit = true\n[[tool.uv.index]]\nurl = "https://corp.example/simple"\ndefault = true\n';
    const poetry =
      '[tool.poetry.dependencies]\npython = "^3.9"\nours = { version = "^1.2", source = "corp" }\n[[tool.poetry.source]]\nname = "corp"\nurl = "https://corp.example/simple"\npriority = "explicit"\n';
    const pdm = '[[tool.pdm.source]]\nname = "corp"\nurl = "https://corp.example/simple"\n';

    expect((await resolved({ 'pyproject.toml': project('a', ['torch', 'one'], uv) })).told).toEqual([
      '--extra-index-url https://cpu.example/whl',
      '--index-url https://corp.example/simple',
      'one @ https://files.example/one-1.0-py3-none-any.whl',
      'torch',
    ]);
    for (const [toml, name] of [
      [poetry, 'ours>=1.2,<2'],
      [project('a', ['six'], pdm), 'six'],
    ] as const)
      expect((await resolved({ 'pyproject.toml': toml })).told).toEqual([
        '--extra-index-url https://corp.example/simple',
        name,
      ]);
  });

  test.each([
    [
      '[tool.uv.sources]\ncore = { workspace = true }\n',
      /core is a member of a uv workspace.*mps run --root \.\./,
    ],
    ['[tool.uv.sources]\ncore = { path = "../core" }\n', /core is at \.\.\/core, out of the source/],
    [
      '[tool.uv.sources]\ncore = { git = "https://a.example/core" }\n',
      /core is at https:.*pip would fetch it with git/,
    ],
    [
      '[tool.poetry.dependencies]\ncore = { git = "https://a.example/core" }\n',
      /pip would fetch it with git/,
    ],
    ['[tool.uv.sources]\ncore = { index = "unknown" }\n', /there is no index "unknown"/],
  ])('are refused if a job cannot have them: %s', async (toml, message) => {
    const files = { 'pyproject.toml': project('demo', ['core'], toml) };
    await expect(chooseOf(files)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(message),
    });
  });

  test("are pixi's from PyPI, and tables that are not read are named", async () => {
    const chosen = await chooseOf({
      'pyproject.toml': project(
        'a',
        ['six'],
        '[tool.pixi.dependencies]\npython = "3.11.*"\nffmpeg = "*"\n[tool.pixi.pypi-dependencies]\nrich = ">=13"\n[tool.poetry.group.train.dependencies]\ntqdm = "*"\n[dependency-groups]\ndev = ["pytest"]\n',
      ),
    });
    expect(chosen.dependencies).toBe('six\nrich>=13');
    expect(chosen.notes).toEqual([
      'pyproject.toml: not installed: tool.pixi.dependencies (ffmpeg), tool.poetry.group.train.dependencies (tqdm), dependency-groups.dev. List what the program needs in dependencies.',
    ]);
  });
});

test('a requirement from git is refused with its file, its line and a way in', async () => {
  const git = 'demo @ git+https://github.com/example/demo.git';
  const advice = 'pip would fetch it with git, which jobs do not have';
  await expect(chooseOf({ 'requirements.txt': `six\n${git}\n` })).rejects.toThrow(
    `requirements.txt: line 2: "${git}": ${advice}`,
  );
  const files = {
    'environment.yaml': `name: demo\ndependencies:\n  - numpy\n  - pip:\n      - six\n      - ${git}\n`,
  };
  await rm(join(folder, 'requirements.txt'));
  await expect(chooseOf(files)).rejects.toThrow(`environment.yaml: line 6: "${git}": ${advice}`);
  await rm(join(folder, 'environment.yaml'));
  for (const line of [
    '-e git+https://a.example/b.git#egg=b',
    'hg+https://a.example/b',
    'b@git+ssh://git@a.example/b',
  ])
    await expect(chooseOf({ 'requirements.txt': line })).rejects.toThrow(advice);
});

test.each([
  ['requirements.txt', '--index-url https://corp.example/simple\nsix\n', 'requirements.txt: line 1: '],
  [
    'pyproject.toml',
    '[project]\nname="a"\ndependencies=["six"]\n[[tool.uv.index]]\nurl="https://corp.example/simple"\n',
    'pyproject.toml: line 1: ',
  ],
  [
    'Pipfile.lock',
    '{"_meta":{"sources":[{"name":"c","url":"https://corp.example/simple"}]},"default":{"six":{"version":"==1.16.0","index":"c"}}}',
    'Pipfile.lock: ',
  ],
])(
  'an index that the deployment does not allow is refused with the option for it: %s',
  async (name, content, place) => {
    const refused = `${place}corp.example is not an allowed package index of this deployment; allowed are pypi.org. Its operator allows others: PACKAGE_INDEXES for npm start`;
    await expect(chooseOf({ [name]: content })).rejects.toThrow(refused);
  },
);
