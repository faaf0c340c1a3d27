import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pythonEnvironment } from '../../../cli/run/environment/python-environment.ts';
import { parseRequirements } from '../../../shared/runner/environment/dependencies/python-requirements.ts';

const locks = join(import.meta.dirname, 'locks');

const choose = (files: Readonly<Record<string, string>>) =>
  pythonEnvironment(new Set(Object.keys(files)), async (name) => files[name] ?? '');

/** The requirement lines that a folder's lock file becomes; the service takes every one of them. */
async function linesOf(files: Readonly<Record<string, string>>): Promise<string[]> {
  const chosen = await choose(files);
  const content = chosen?.added?.content ?? '';
  expect(chosen?.dependencies).toBe('-r mps-requirements.txt');
  expect(parseRequirements(content).faults).toEqual([]);
  return content.trimEnd().split('\n');
}

const pyproject = `[project]
name = "digits"
dependencies = ["click>=8", "uvicorn[standard]>=0.30", "never ; sys_platform == 'win32'"]
[dependency-groups]
dev = ["pytest"]
`;
const poetryProject = `[tool.poetry.dependencies]
python = "^3.10"
click = "^8.1"
tqdm = {version = "~4.66", extras = ["notebook"], markers = "sys_platform == 'linux'"}
old = "1.2.3"
any = "*"
`;
const poetryLock = (groups: (name: string) => string) => `[[package]]
name = "click"
version = "8.1.8"
optional = false
${groups('main')}
[package.dependencies]
colorama = {version = "*", markers = "platform_system == \\"Windows\\""}

[[package]]
name = "colorama"
version = "0.4.6"
optional = false
${groups('main')}

[[package]]
name = "iniconfig"
version = "2.1.0"
optional = false
${groups('dev')}
`;

describe('a lock file', () => {
  test('of uv becomes what uv itself exports', async () => {
    const exported = await readFile(join(locks, 'uv-export.txt'), 'utf8');
    const lock = await readFile(join(locks, 'uv.lock.txt'), 'utf8');
    const lines = await linesOf({ 'pyproject.toml': pyproject, 'uv.lock': lock });
    const nameOf = (line: string) => line.split(' ')[0];
    expect(lines.map(nameOf)).toEqual(exported.trimEnd().split('\n').map(nameOf).sort());
    // The packages that hold for some machines alone: uv writes the same condition in fewer words.
    expect(lines.filter((line) => /^(?:exceptiongroup|uvloop|websockets)/.test(line))).toEqual([
      "exceptiongroup==1.3.1 ; python_full_version < '3.11'",
      expect.stringMatching(/^uvloop==0\.23\.0 ; .*sys_platform != 'win32'/),
      "websockets==16.1.1 ; python_full_version < '3.11'",
      "websockets==17.4 ; python_full_version >= '3.11'",
    ]);
  });

  test('of the standard (PEP 751)', async () => {
    const exported = await readFile(join(locks, 'uv-export.txt'), 'utf8');
    const lock = await readFile(join(locks, 'pylock.txt'), 'utf8');
    expect(await linesOf({ 'pylock.toml': lock })).toEqual(exported.trimEnd().split('\n').sort());
  });

  test.each([
    { version: '2.1', groups: (name: string) => `groups = ["${name}"]` },
    { version: '1.x', groups: () => '' },
  ])('of poetry $version', async ({ groups }) => {
    const lines = await linesOf({
      'pyproject.toml': '[tool.poetry.dependencies]\nclick = "^8.1"\n',
      'poetry.lock': poetryLock(groups),
    });
    expect(lines[0]).toBe('click==8.1.8');
    expect(lines[1]).toMatch(/^colorama==0\.4\.6/);
    expect(lines).toHaveLength(2);
  });

  test('of pdm', async () => {
    const entry = (name: string, more: string) =>
      `[[package]]\nname = "${name}"\nversion = "1.0"\ngroups = [${more}\n`;
    const lock = [
      entry('click', '"default"]\nmarker = "python_version >= \\"3.9\\""'),
      entry('pytest', '"dev"]'),
    ].join('\n');
    expect(await linesOf({ 'pdm.lock': lock })).toEqual(['click==1.0 ; python_version >= "3.9"']);
  });

  test('of pipenv', async () => {
    const lock = {
      _meta: { sources: [{ name: 'torch', url: 'https://download.pytorch.org/whl/cpu' }] },
      default: {
        click: { version: '==8.5.1', markers: "python_version >= '3.10'" },
        torch: { version: '==2.9.0', index: 'torch' },
      },
      develop: { pytest: { version: '==9.0' } },
    };
    expect(await linesOf({ 'Pipfile.lock': JSON.stringify(lock) })).toEqual([
      '--extra-index-url https://download.pytorch.org/whl/cpu',
      "click==8.5.1 ; python_version >= '3.10'",
      'torch==2.9.0',
    ]);
  });

  test('that is older than its project is refused', async () => {
    const older = {
      'pyproject.toml': '[project]\ndependencies = ["numpy", "tqdm"]\n',
      'uv.lock': 'version = 1\n',
    };
    await expect(choose(older)).rejects.toThrow(/older than pyproject\.toml: it lacks numpy, tqdm\./);
  });

  test.each([
    { file: 'uv.lock', content: '[[package' },
    { file: 'poetry.lock', content: '[[package]]\nname = 1\n' },
    { file: 'Pipfile.lock', content: '{' },
  ])('that cannot be read is refused: $file $content', async ({ file, content }) => {
    await expect(choose({ [file]: content })).rejects.toThrow(`${file} cannot be read as a lock file`);
  });

  test('with a package of a repository says what to do', async () => {
    const lock = `[[package]]
name = "digits"
version = "0.1.0"
source = { virtual = "." }
dependencies = [{ name = "secret" }]
[[package]]
name = "secret"
version = "1.0"
source = { git = "https://example.com/secret?rev=main#abc" }
`;
    await expect(choose({ 'uv.lock': lock })).rejects.toThrow(/secret from git .*requirements\.txt/s);
  });

  test('without packages installs nothing', async () => {
    expect(await choose({ 'pyproject.toml': '[project]\nname = "a"\n', 'uv.lock': '' })).toMatchObject({
      dependencies: 'none',
      reason: 'uv.lock',
    });
  });
});

describe('the requirements of poetry', () => {
  test('are written as pip reads them', async () => {
    expect((await choose({ 'pyproject.toml': poetryProject }))?.dependencies.split('\n')).toEqual([
      'click>=8.1,<9',
      "tqdm[notebook]>=4.66,<4.67 ; sys_platform == 'linux'",
      'old==1.2.3',
      'any',
      'python>=3.10,<4',
    ]);
  });

  test.each(['"^1.0 || ^2.0"'])('refuse %s', async (wanted) => {
    const files = { 'pyproject.toml': `[tool.poetry.dependencies]\na = ${wanted}\n` };
    await expect(choose(files)).rejects.toThrow('a cannot be converted');
  });
});
