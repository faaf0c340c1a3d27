import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { tryParseJson } from '../../../core/text/try-parse-json.ts';
import { EnvironmentError } from '../environment-error.ts';
import { type RunCommand, stopped } from './installer.ts';
import { downloadPython, type ManagedPythons, uvConditions, uvQuestion } from './managed-pythons.ts';
import { allowsVersion, compareVersions, type PythonCondition, pythonFault } from './python-version.ts';

export interface Interpreter {
  /** Implementation and real version: `cpython-3.11.7`, `node-24.1.0`. */
  identity: string;
  /** Absolute path of the real binary, with shims and links resolved. */
  executable: string;
  /** The word for it in names of compiled modules: `cpython-311`; blank for Node. */
  cacheTag: string;
  /** Wheels that it puts into its own virtual environments: pip, in older versions setuptools. */
  bundled: readonly string[];
}

/**
 * Ask the `python3` or `node` on the search path for its version and path, as the user who will run it. If the
 * project allows only some versions of Python, take the first interpreter of `pythonNames` that has one of them, else
 * one that uv has installed, else one that uv downloads.
 *
 * @param wanted conditions on the version of Python (`>=3.11`), all of which must hold
 * @param managed the interpreters that uv downloads; by default it downloads none
 * @throws EnvironmentError `python-missing`, `node-missing`, `stopped`
 */
export async function probeInterpreter(
  kind: 'python' | 'node',
  run: RunCommand,
  cwd: string,
  env: Record<string, string>,
  stop: AbortSignal,
  wanted: readonly PythonCondition[] = [],
  managed?: ManagedPythons,
): Promise<Interpreter> {
  const seen: string[] = [];
  let why = '';
  const ask = async (program: string): Promise<Interpreter | undefined> => {
    const found = await probe(kind, program, { run, cwd, env });
    stopped(stop);
    if ('fault' in found) {
      why ||= found.fault;
      return undefined;
    }
    const { implementation, version, executable, cacheTag, bundled } = found;
    if (!wanted.every(({ versions }) => allowsVersion(versions, version))) {
      if (!seen.includes(version)) seen.push(version);
      return undefined;
    }
    return { identity: `${implementation}-${version}`, executable, cacheTag, bundled };
  };
  const programs =
    kind === 'node' ? ['node'] : wanted.length === 0 ? ['python3'] : await pythonPrograms(env['PATH']);
  for (const program of programs) {
    const found = await ask(program);
    if (found !== undefined) return found;
  }
  const askUv = async (): Promise<Interpreter | undefined> => {
    const options = [...uvQuestion.options, '--no-python-downloads'];
    const argv = ['uv', 'python', 'find', ...options, uvConditions(wanted)] as const;
    const managedFolder = managed === undefined ? {} : { UV_PYTHON_INSTALL_DIR: managed.folder };
    const own = uvQuestion.env({ ...env, ...managedFolder });
    const { exitCode, tail } = await run({ argv, cwd, env: own });
    stopped(stop);
    const path = exitCode === 0 ? tail.trim().split('\n').at(-1) : undefined;
    return path?.startsWith('/') === true ? await ask(path) : undefined;
  };
  const installed = wanted.length === 0 ? undefined : await askUv();
  if (installed !== undefined) return installed;
  const fault = wanted.length === 0 || managed === undefined ? '' : await downloadPython(managed, wanted);
  stopped(stop);
  const downloaded = wanted.length === 0 || fault !== '' ? undefined : await askUv();
  if (downloaded !== undefined) return downloaded;
  const none = (seen.length === 0 ? undefined : pythonFault(wanted, seen)) ?? `${missing[kind]}${why}`;
  throw new EnvironmentError(`${kind}-missing`, fault === '' ? none : `${none} ${fault}`);
}

/**
 * Return the versions of Python that programs can run with here, in the order in which `probeInterpreter` tries them.
 *
 * @param run runs a program with the rights that trainings have
 */
export async function pythonVersions(
  run: RunCommand,
  cwd: string,
  env: Record<string, string>,
): Promise<string[]> {
  const programs = await pythonPrograms(env['PATH']);
  const found = await Promise.all(programs.map((program) => probe('python', program, { run, cwd, env })));
  return [...new Set(found.flatMap((one) => ('version' in one ? [one.version] : [])))];
}

/** Ask an interpreter what it is. `fault` is text in brackets for an error, blank if there is nothing to say. */
async function probe(
  kind: 'python' | 'node',
  program: string,
  { run, cwd, env }: { run: RunCommand; cwd: string; env: Record<string, string> },
): Promise<z.infer<typeof Probe> | { fault: string }> {
  const argv =
    kind === 'python' ? ([program, '-I', '-c', pythonProbe] as const) : ([program, '-e', nodeProbe] as const);
  const result = await run({ argv, cwd, env });
  const line = result.tail.split('\n').findLast((text) => text.startsWith('{'));
  const parsed = result.exitCode === 0 ? Probe.safeParse(tryParseJson(line ?? '')) : undefined;
  if (parsed?.success === true) return parsed.data;
  return { fault: result.message === undefined ? '' : ` (${result.message})` };
}

/** Return the interpreters to try: those on the search path, then all that pyenv has, whichever it has chosen. */
async function pythonPrograms(path = ''): Promise<string[]> {
  const shims = path.split(':').filter((folder) => /^\/.*\/shims\/?$/.test(folder));
  const ofPyenv = await Promise.all(
    shims.map(async (folder) => {
      const versions = join(folder, '..', 'versions');
      const names = await readdir(versions).catch((): string[] => []);
      const newestFirst = names.filter((name) => /^3\.\d+\.\d+$/.test(name)).sort(compareVersions);
      return newestFirst.reverse().map((name) => join(versions, name, 'bin', 'python3'));
    }),
  );
  return [...pythonNames, ...ofPyenv.flat()];
}

/** Names of Python's interpreters on a search path, the usual one first, then the newest. */
const pythonNames: readonly string[] = [
  'python3',
  ...[15, 14, 13, 12, 11, 10, 9].map((minor) => `python3.${minor}`),
  'python',
];

const pythonProbe = [
  'import glob, json, os, platform, sys, sysconfig',
  'folder, names, bundled = sysconfig.get_config_var("WHEEL_PKG_DIR"), ["pip", "setuptools"], []',
  'try:',
  '    import ensurepip',
  '    folders = list(filter(None, [folder, os.path.join(os.path.dirname(ensurepip.__file__), "_bundled")]))',
  '    names = names if sys.version_info < (3, 12) else names[:1]',
  '    for name in names:',
  '        found = [f for at in folders for f in glob.glob(os.path.join(glob.escape(at), name + "-*.whl"))]',
  '        bundled += found[:1]',
  'except ImportError:',
  '    pass',
  'print(json.dumps({"implementation": sys.implementation.name, "version": platform.python_version(),',
  '"executable": os.path.realpath(sys.executable), "cacheTag": sys.implementation.cache_tag or "", "bundled": bundled}))',
].join('\n');

const nodeProbe =
  'console.log(JSON.stringify({implementation: "node", version: process.versions.node, executable: process.execPath}))';

const Probe = z.object({
  implementation: z.string(),
  version: z.string(),
  executable: z.string().startsWith('/'),
  cacheTag: z.string().default(''),
  bundled: z.array(z.string().startsWith('/')).default([]),
});

const missing = {
  python:
    'This environment needs Python 3, but the search path has no working python3. Install Python 3.9 or newer.',
  node: 'This environment needs Node, but the search path has no working node.',
} as const;
