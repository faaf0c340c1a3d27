import { describe, expect, test } from 'vitest';
import { parseDependencies } from '../../../../../shared/runner/environment/dependencies/parse-dependencies.ts';
import fc, { runs } from '../../../../support/seeded-fast-check.ts';

const python = (dependencies: string) => parseDependencies({ env_type: 'python', dependencies });
const node = (dependencies: string) => parseDependencies({ env_type: 'node', dependencies });
const specs = (parsed: ReturnType<typeof python>) => {
  expect(parsed.faults).toEqual([]);
  return parsed.dependencies.map((dependency) =>
    dependency.kind === 'package'
      ? dependency.spec
      : `${dependency.kind}:${'path' in dependency ? dependency.path : ''}`,
  );
};

describe('nothing to install', () => {
  test.each(['', '  \n', '-', ' none ', 'None'])(
    '%j means nothing for python, node and system',
    (dependencies) => {
      for (const env_type of ['python', 'node', 'system'] as const) {
        expect(parseDependencies({ env_type, dependencies })).toEqual({ dependencies: [], faults: [] });
      }
    },
  );

  test('a system environment installs nothing else, a docker environment needs an image', () => {
    expect(parseDependencies({ env_type: 'system', dependencies: 'numpy' }).faults).toHaveLength(1);
    expect(parseDependencies({ env_type: 'docker', dependencies: 'none' }).faults).toHaveLength(1);
  });
});

describe('lines of pip that teams write', () => {
  const hash = `sha256:${'a'.repeat(64)}`;
  const other = `sha256:${'b'.repeat(64)}`;

  test('hashes belong to their package, also on continued lines', () => {
    const { dependencies, faults } = python(
      `six==1.16.0 \\\n    --hash=${other} \\\n    --hash=${hash}\n    # via demo`,
    );
    expect(faults).toEqual([]);
    expect(dependencies).toEqual([
      { kind: 'package', line: 1, spec: 'six==1.16.0', hashes: `--hash=${hash} --hash=${other}` },
    ]);
  });

  test.each([
    ['-c constraints.txt', { kind: 'constraints', path: 'constraints.txt' }],
    ['--constraint=a/c.txt', { kind: 'constraints', path: 'a/c.txt' }],
    ['-e .', { kind: 'folder', path: '.', extras: '' }],
    ['-e ".[dev,Test]"', { kind: 'folder', path: '.', extras: '[dev,test]' }],
    ['--editable=./lib/', { kind: 'folder', path: 'lib', extras: '' }],
    ['.', { kind: 'folder', path: '.', extras: '' }],
    ['-e file:.', { kind: 'folder', path: '.', extras: '' }],
    ['python >=3.10, <4', { kind: 'python', versions: '>=3.10,<4' }],
  ])('%s', (line, expected) => {
    expect(python(line)).toEqual({ dependencies: [{ line: 1, ...expected }], faults: [] });
  });

  test.each([
    ['-e ../lib', 'inside the source'],
    ['-e git+https://a.example/b', 'fetch it with git'],
    ['-c ../c.txt', '-c takes one file inside the source'],
    ['python', 'after python comes a version'],
    ['six --hash=md5:abc', '--hash=sha256:'],
    [`./a.whl --hash=${hash}`, '--hash is for packages of an index'],
  ])('refuses %s: %s', (line, words) => {
    expect(
      python(line)
        .faults.map(({ message }) => message)
        .join(),
    ).toContain(words);
  });
});

describe('python requirements', () => {
  test.each([
    ['numpy>=1,<2, pandas', ['numpy>=1,<2', 'pandas']],
    ['numpy >= 1 , < 2,pandas~=2.0', ['numpy>=1,<2', 'pandas~=2.0']],
    ['Foo_Bar[b,A]==1!2.0+cpu, x', ['foo-bar[a,b]==1!2.0+cpu', 'x']],
    [
      'a ; python_version < "3.12" and (os_name == "posix" or extra in "x,y"), b',
      ['a ; python_version < "3.12" and (os_name == "posix" or extra in "x,y")', 'b'],
    ],
    ['a # first, not a requirement\r\n\n# whole line\nb', ['a', 'b']],
    [
      '-r requirements/dev.txt, ./wheels/x-1.0-py3-none-any.whl',
      ['requirements:requirements/dev.txt', 'file:wheels/x-1.0-py3-none-any.whl'],
    ],
    ['--requirement=a.txt\n-rb.txt', ['requirements:a.txt', 'requirements:b.txt']],
    ['x @ https://example.org/a,b/x.whl#sha256=ab, y', ['x @ https://example.org/a,b/x.whl#sha256=ab', 'y']],
    ['x @ https://example.org/x.whl ; os_name == "nt"', ['x @ https://example.org/x.whl ; os_name == "nt"']],
  ])('%j', (text, expected) => {
    expect(specs(python(text))).toEqual(expected);
  });

  test.each([
    '--index-url https://user:secret@index.example/simple',
    '--index-url file:///etc/simple',
    '--index-url pypi.org',
    '--index-url',
    '--extra-index-url=\u0024{INDEX}',
    '--trusted-host evil.example',
    '--no-index',
    '--pre numpy',
    'torch --index-url https://download.pytorch.org/whl/cpu',
    '--find-links ./wheels',
    '--no-binary :all:',
    'numpy --hash=sha256:00',
    'numpy==1 --config-settings=x=y',
    'numpy ; os_name == "a --index-url=https://evil.example"',
    'numpy==\u0024{VERSION}',
    '-r /etc/passwd',
    '-r ../up.txt',
    '-r a/../../up.txt',
    '-r https://evil.example/r.txt',
    '-r a.txt --pre',
    './../x.whl',
    '/abs/x.whl',
    '~/x.whl',
    'file:///etc/x.whl',
    'x @ file:///etc/x.whl',
    'x @ http://example.org/x.whl',
    'x @ https://user:secret@example.org/x.whl',
    'x @ git+https://example.org/x.git',
    'git+https://example.org/x.git#egg=x',
    'https://example.org/x.whl',
    'numpy ; import os',
    'numpy ; os_name',
    'numpy ; (os_name == "nt"',
    'numpy ; unknown == "nt"',
    'numpy==',
    'numpy=1',
    'num py',
    'numpy[a',
    'n\u00fampy',
    'numpy\u2028--pre',
    'numpy\0',
  ])('refuses %j', (text) => {
    const { dependencies, faults } = python(`ok\n${text}`);
    expect(faults).toEqual([{ line: 2, message: expect.any(String) }]);
    expect(dependencies).toHaveLength(1);
  });

  test('options of pip say where packages are found, and which', () => {
    const text = `--index-url https://Index.example/simple # ours
-i=https://a.example
--extra-index-url https://b.example/whl/cpu, torch
-f https://c.example/wheels.html
--find-links=https://d.example
--pre`;
    const { dependencies, faults } = python(text);
    expect(faults).toEqual([]);
    expect(
      dependencies.flatMap((one) => (one.kind === 'option' ? [[one.line, one.name, one.value]] : [])),
    ).toEqual([
      [1, 'index-url', 'https://index.example/simple'],
      [2, 'index-url', 'https://a.example/'],
      [3, 'extra-index-url', 'https://b.example/whl/cpu'],
      [4, 'find-links', 'https://c.example/wheels.html'],
      [5, 'find-links', 'https://d.example/'],
      [6, 'pre', ''],
    ]);
  });

  test.each([
    ['--index-url https://ada:hidden@index.example/simple', 'secret variable'],
    ['x @ https://ada:hidden@example.org/x.whl', 'secret variable'],
    ['--find-links ./wheels', './wheels/name-1.0-py3-none-any.whl'],
    ['--no-index', '--extra-index-url, --find-links and --pre'],
  ])('says of %s what to write instead, without the password', (text, advice) => {
    const [fault] = python(text).faults;
    expect(fault?.message).toContain(advice);
    expect(fault?.message).not.toContain('hidden');
  });

  test('names every fault at once, with its line', () => {
    expect(python('-e ..\nok\n\u0024{X}, -e x').faults.map((fault) => fault.line)).toEqual([1, 3, 3]);
  });

  test('whatever the text, nothing accepted starts an option, spans lines or leaves the source', () => {
    const piece = fc.constantFrom(
      '-r ',
      './',
      '../',
      ' -',
      '--x',
      ',',
      ';',
      '"',
      "'",
      '\n',
      '\\',
      '\u0024{A}',
      'a',
      '@',
      'https://',
      '[',
      ']',
      '#',
      ' ',
      '==1',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 30 }), (pieces) => {
        for (const dependency of python(pieces.join('')).dependencies) {
          if (dependency.kind === 'image') throw new Error('no image');
          if (dependency.kind === 'option' || dependency.kind === 'python') continue;
          const text = dependency.kind === 'package' ? dependency.spec : dependency.path;
          expect(text).not.toMatch(/^[-/]|\s-|[\r\n\\]|\$\{|(?:^|\/)\.\.(?:\/|$)/);
        }
      }),
      { numRuns: runs(500) },
    );
  });

  test('a hostile line is refused in time that does not explode', () => {
    const texts = [
      'a@a://'.repeat(600),
      ','.repeat(4000),
      `a;${'('.repeat(3900)}`,
      `./${' '.repeat(3900)}[`,
      'a['.repeat(2000),
    ];
    for (const text of [...texts, texts.join('').repeat(10)])
      expect(python(text).dependencies.length).toBeLessThan(2);
  });
});

describe('npm packages', () => {
  test('names, scopes, ranges, tags and local tarballs', () => {
    expect(
      specs(node('lodash, @scope/pkg@^1.2\nfoo@>=1 <2 || 3.x # why\nbar@latest\n./vendor/x.tgz')),
    ).toEqual(['lodash', '@scope/pkg@^1.2', 'foo@>=1 <2 || 3.x', 'bar@latest', 'file:vendor/x.tgz']);
  });

  test.each([
    '--registry=https://evil.example',
    '-g',
    'git+https://example.org/x.git',
    'user/repo',
    'github:user/repo',
    'https://example.org/x.tgz',
    'foo@npm:bar@1',
    'foo@file:../x',
    'foo@../x',
    'foo@x.tgz',
    'x.tgz',
    '../x.tgz',
    '/abs/x.tgz',
    './folder',
    'file:x.tgz',
    'lodash express',
    '@scope/',
    '.hidden',
    'foo@',
  ])('refuses %j', (text) => {
    expect(node(text)).toEqual({ dependencies: [], faults: [{ line: 1, message: expect.any(String) }] });
  });
});

describe('images', () => {
  test.each([
    'python',
    'python:3.12-slim',
    'library/python',
    'localhost/x',
    'localhost:5000/x:tag',
    'registry.example.org:443/team/trainer_a__b--c:V1.0',
    `ghcr.io/a/b@sha256:${'0'.repeat(64)}`,
    `a:tag@sha256:${'f'.repeat(64)}`,
  ])('accepts %j', (dependencies) => {
    const { faults } = parseDependencies({ env_type: 'docker', dependencies });
    expect(faults).toEqual([]);
  });

  test.each([
    '--privileged',
    'Python',
    'a b',
    'a,b',
    'a:',
    'a@sha256:00',
    'a//b',
    '/a',
    'a/../b',
    `${'a'.repeat(256)}`,
    'http://example.org/a',
    'a:-x',
    'a:t\n--x',
  ])('refuses %j', (dependencies) => {
    expect(parseDependencies({ env_type: 'docker', dependencies }).faults).toHaveLength(1);
  });
});
