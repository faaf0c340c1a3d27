import { normalName } from '../dependencies/python-requirements.ts';

/** A requirement and its place, such as `requirements.txt: line 3`. */
export interface PlacedRequirement {
  /** Normal name of the package, such as `scikit-learn`. */
  name: string;
  where: string;
}

/**
 * Say why a source distribution could not be built, from the output of uv: the package, the line that requires
 * it, what its build lacks, and what to do. Undefined if no build failed, or if its output does not tell what it lacks.
 *
 * @param output the end of the installer's output
 * @param required the requirements of the environment
 * @example buildFault(output, [{ name: 'psycopg2', where: 'requirements.txt: line 3' }])
 * // 'psycopg2 (requirements.txt: line 3) has no wheel for this Python, and its build lacks the program pg_config. …'
 */
export function buildFault(output: string, required: readonly PlacedRequirement[]): string | undefined {
  if (!/Failed to build|build backend returned/i.test(output)) return undefined;
  const lack = lacks(output);
  if (lack === undefined) return undefined;
  const name = failedPackage(output);
  const wanted = required.find((one) => one.name === name);
  const where = wanted?.where ?? 'another package requires it';
  const subject = name === undefined ? 'A source distribution' : `${name} (${where})`;
  return `${subject} has no wheel for this Python, and its build lacks ${lack.what}. ${advice(lack, name)}`;
}

/** What a build lacks. */
interface Lack {
  /** In words, such as `the program pg_config`. */
  what: string;
  /** Debian's package that has it. */
  debian?: string | undefined;
  kind: 'system' | 'module' | 'old-python';
}

function advice({ kind, debian }: Lack, name = '<package>'): string {
  const wheel = `\`pip wheel --no-deps${kind === 'module' ? ' --no-build-isolation' : ''} ${name}\``;
  const own = `require a version that has a wheel, or put a wheel into the source (made by ${wheel} where that works) and require it as ./<file>.whl`;
  if (kind === 'old-python') return `Choose an older Python (python: 3.11 in mps.yaml), ${own}.`;
  if (kind === 'module') return `${own.charAt(0).toUpperCase()}${own.slice(1)}.`;
  const hint = debian === undefined ? '' : ` (Debian and Ubuntu: \`apt install ${debian}\`)`;
  return `Install it where jobs run${hint}, name an image that has it (env_type docker), or ${own}.`;
}

/** Return the normal name of the package whose build failed. */
function failedPackage(output: string): string | undefined {
  // A build may fail because that of one of its tools fails, which comes last.
  const found = [...output.matchAll(/Failed to build `([\w.-]+)/g)].at(-1)?.[1];
  return found === undefined ? undefined : normalName(found);
}

/** Modules that newer versions of Python or setuptools no longer have. */
const removedModules: ReadonlySet<string> = new Set(['distutils', 'imp', 'asyncore']);

/** Debian's packages of programs, headers and libraries that builds call for. */
const debianPackages: Readonly<Record<string, string>> = {
  'Python.h': 'python3-dev',
  pg_config: 'libpq-dev',
  'libpq-fe.h': 'libpq-dev',
  mysql_config: 'default-libmysqlclient-dev pkg-config',
  mariadb_config: 'libmariadb-dev',
  'mysql.h': 'default-libmysqlclient-dev',
  'ffi.h': 'libffi-dev',
  'sndfile.h': 'libsndfile1-dev',
  'portaudio.h': 'portaudio19-dev',
  'gdal-config': 'libgdal-dev',
  'geos_c.h': 'libgeos-dev',
  'lber.h': 'libldap-dev',
  'sasl/sasl.h': 'libsasl2-dev',
  'mpi.h': 'libopenmpi-dev',
  mpicc: 'libopenmpi-dev',
  'sql.h': 'unixodbc-dev',
  'graphviz/cgraph.h': 'libgraphviz-dev',
  'openssl/ssl.h': 'libssl-dev',
  'zlib.h': 'zlib1g-dev',
  'libxml/xpath.h': 'libxml2-dev libxslt1-dev',
  'xml2-config': 'libxml2-dev',
  'xslt-config': 'libxslt1-dev',
  swig: 'swig',
  cmake: 'cmake',
  'pkg-config': 'pkg-config',
  git: 'git',
  gfortran: 'gfortran',
  cargo: 'cargo',
  make: 'build-essential',
};

const compilers = /^(?:[\w-]*-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+)(?:-\d+)?$/;

const program = (path: string): Lack => {
  const name = path.split('/').at(-1) ?? path;
  if (compilers.test(name))
    return { kind: 'system', what: `a C compiler (${name})`, debian: 'build-essential python3-dev' };
  if (name === 'nvcc') return { kind: 'system', what: 'the compiler of CUDA (nvcc)' };
  return { kind: 'system', what: `the program ${name}`, debian: debianPackages[name] };
};

const rust: Lack = { kind: 'system', what: 'a Rust compiler (cargo)', debian: 'cargo' };

/** How builds say what they lack: the more exact first. A match's first group names it. */
const signs: readonly [RegExp, (name: string) => Lack][] = [
  [
    /fatal error: '?([\w./+-]+)'?(?: file not found|: No such file or directory)/g,
    (name) => ({ kind: 'system', what: `the header ${name}`, debian: debianPackages[name] }),
  ],
  [
    /(?:cannot find|library not found for) -l([\w.+-]+)/g,
    (name) => ({ kind: 'system', what: `the library ${name}`, debian: undefined }),
  ],
  [/command '?([\w./+-]+)'? failed: No such file or directory/g, program],
  [/unable to execute '?([\w./+-]+)'?: No such file/g, program],
  [/\[Errno 2\] No such file or directory: '([\w+-]+)'/g, program],
  [/pg_config executable not found/g, () => program('pg_config')],
  [/(?:Can not find valid pkg-config name|Specify MYSQLCLIENT_CFLAGS)/g, () => program('mysql_config')],
  [/(?:^|[:\s])([\w+-]+): (?:command )?not found\s*$/gm, program],
  [/No (CMAKE_C(?:XX)?_COMPILER) could be found/g, () => program('gcc')],
  [/(?:Unknown compiler\(s\)|CMAKE_C(?:XX)?_COMPILER not set)/g, () => program('gcc')],
  [/(?:can't find Rust compiler|Cargo, the Rust package manager, is not installed)/g, () => rust],
  [/(?:CUDA_HOME environment variable is not set|nvcc was not found)/g, () => program('nvcc')],
  [
    /Package '?([\w.+-]+)'?(?:, required by '[^']*',)? (?:was )?not found/g,
    (name) => ({ kind: 'system', what: `the library ${name} (pkg-config does not find it)` }),
  ],
  [
    /(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)'?/g,
    (name) =>
      removedModules.has(name.split('.', 1)[0] ?? '')
        ? { kind: 'old-python', what: `the module ${name}, which newer versions of Python no longer have` }
        : { kind: 'module', what: `the module ${name}, which it imports and does not declare` },
  ],
];

function lacks(output: string): Lack | undefined {
  for (const [pattern, describe] of signs) {
    // The last error is the one that ended the build.
    const found = [...output.matchAll(pattern)].at(-1);
    if (found !== undefined) return describe(found[1] ?? '');
  }
  return undefined;
}
