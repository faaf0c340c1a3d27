import { expect, test } from 'vitest';
import { buildFault } from '../../../../shared/runner/environment/install/build-fault.ts';

const required = [
  { name: 'mysqlclient', where: 'requirements.txt: line 3' },
  { name: 'needscc', where: 'requirements.txt: line 4' },
];

/** Output of uv for a build that ends with these lines. */
const building = (name: string, ...lines: string[]) =>
  [
    `error: Failed to build \`${name}==1.0\``,
    '  cause: The build backend returned an error',
    '  cause: Call to `setuptools.build_meta.build_wheel` failed (exit status: 1)',
    '',
    '         [stderr]',
    ...lines.map((line) => `         ${line}`),
  ].join('\n');

test.each([
  ["error: [Errno 2] No such file or directory: 'x86_64-linux-gnu-gcc'", 'build-essential python3-dev'],
  ["error: command 'gcc' failed: No such file or directory", 'build-essential python3-dev'],
  ["unable to execute 'g++': No such file or directory", 'build-essential python3-dev'],
  ['CMake Error: No CMAKE_CXX_COMPILER could be found.', 'build-essential python3-dev'],
  ['m.c:1:10: fatal error: Python.h: No such file or directory', 'python3-dev'],
  ['m.c:1:10: fatal error: libpq-fe.h: No such file or directory', 'libpq-dev'],
  ['Error: pg_config executable not found.', 'libpq-dev'],
  ['/bin/sh: 1: mysql_config: not found', 'default-libmysqlclient-dev pkg-config'],
  ["error: can’t find it\nerror: can't find Rust compiler", 'cargo'],
])('names what a build lacks, and the package that has it: %s', (line, debian) => {
  const message = buildFault(building('needscc', 'running build_ext', line), required);

  expect(message).toMatch(
    /^needscc \(requirements\.txt: line 4\) has no wheel for this Python, and its build lacks /,
  );
  expect(message).toContain(`\`apt install ${debian}\``);
});

test.each([
  ['/usr/bin/ld: cannot find -lsomething: No such file or directory', 'the library something'],
  ["Package 'gobject-2.0', required by 'virtual:world', not found", 'the library gobject-2.0'],
  ['m.c:2:10: fatal error: odd/nothere.h: No such file or directory', 'the header odd/nothere.h'],
  ['OSError: CUDA_HOME environment variable is not set.', 'the compiler of CUDA (nvcc)'],
])('names what no known package has: %s', (line, what) => {
  const message = buildFault(building('needscc', line), required);

  expect(message).toContain(`its build lacks ${what}`);
  expect(message).not.toContain('apt install');
});

test('names a module that the build imports without declaring it', () => {
  const message = buildFault(
    building('other', '    import numpy', "ModuleNotFoundError: No module named 'numpy'"),
    required,
  );

  expect(message).toBe(
    'other (another package requires it) has no wheel for this Python, and its build lacks the module numpy, which it imports and does not declare. Require a version that has a wheel, or put a wheel into the source (made by `pip wheel --no-deps --no-build-isolation other` where that works) and require it as ./<file>.whl.',
  );
});

test('advises an older Python for a module that newer ones no longer have', () => {
  const message = buildFault(
    building('needscc', "ModuleNotFoundError: No module named 'distutils.core'"),
    required,
  );

  expect(message).toContain('Choose an older Python (python: 3.11 in mps.yaml)');
});

/** The output of other builds. */
const outputs = {
  'an older uv': `  × Failed to build \`mysqlclient==2.3.2\`
  ├─▶ The build backend returned an error
  ╰─▶ Call to \`setuptools.build_meta.build_wheel\` failed (exit status: 1)

      [stderr]
      ModuleNotFoundError: No module named 'numpy'`,
  'a package of the source': `error: Failed to build \`mysqlclient @ file:///scratch/packages/0/mysqlclient-1.0.tar.gz\`
  cause: The build backend returned an error
  cause: Call to \`setuptools.build_meta.build_wheel\` failed (exit status: 1)

         [stderr]
         m.c:2:10: fatal error: mysql.h: No such file or directory`,
  'a build that asks for pkg-config': building(
    'mysqlclient',
    'Trying pkg-config --exists mysqlclient',
    'Exception: Can not find valid pkg-config name.',
    'Specify MYSQLCLIENT_CFLAGS and MYSQLCLIENT_LDFLAGS env vars manually',
  ),
};

test.each(Object.entries(outputs))('reads the output of %s', (_, output) => {
  expect(buildFault(output, required)).toMatch(/^mysqlclient \(requirements\.txt: line 3\) has no wheel/);
});

test.each([
  'ERROR: No matching distribution found for x==9',
  "ModuleNotFoundError: No module named 'numpy'",
  building('needscc', 'RuntimeError: it says nothing'),
])('says nothing of another failure', (output) => {
  expect(buildFault(output, required)).toBeUndefined();
});
