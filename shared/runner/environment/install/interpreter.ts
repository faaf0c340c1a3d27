import * as z from 'zod';
import { EnvironmentError } from '../environment-error.ts';
import { type RunCommand, stopped } from './installer.ts';
import { allowsVersion } from './python-version.ts';

export interface Interpreter {
  /** Implementation and real version: `cpython-3.11.7`, `node-24.1.0`. */
  identity: string;
  /** Absolute path of the real binary, with shims and links resolved. */
  executable: string;
  /** Whether it can create virtual environments with pip; always true for Node. */
  venv: boolean;
}

/**
 * Ask the `python3` or `node` on the search path for its version and path, as the user who will run it. If the
 * project allows only some versions of Python, take the first interpreter of `pythonNames` that has one of them, else
 * one that uv has installed.
 *
 * @param wanted conditions on the version of Python (`>=3.11`), all of which must hold
 * @throws EnvironmentError `python-missing`, `node-missing`, `stopped`
 */
export async function probeInterpreter(
  kind: 'python' | 'node',
  run: RunCommand,
  cwd: string,
  env: Record<string, string>,
  stop: AbortSignal,
  wanted: readonly string[] = [],
): Promise<Interpreter> {
  const seen: string[] = [];
  let why = '';
  const ask = async (program: string): Promise<Interpreter | undefined> => {
    const argv = kind === 'python' ? [program, '-I', '-c', pythonProbe] : [program, '-e', nodeProbe];
    const result = await run({ argv: argv as [string, ...string[]], cwd, env });
    stopped(stop);
    const line = result.tail.split('\n').findLast((text) => text.startsWith('{'));
    const probe = result.exitCode === 0 ? Probe.safeParse(parse(line)) : undefined;
    if (probe?.success !== true) {
      why ||= result.message === undefined ? '' : ` (${result.message})`;
      return undefined;
    }
    const { implementation, version, executable, venv } = probe.data;
    if (!wanted.every((one) => allowsVersion(one, version))) {
      if (!seen.includes(version)) seen.push(version);
      return undefined;
    }
    return { identity: `${implementation}-${version}`, executable, venv };
  };
  for (const name of kind === 'node' ? ['node'] : wanted.length === 0 ? ['python3'] : pythonNames) {
    const found = await ask(name);
    if (found !== undefined) return found;
  }
  if (wanted.length > 0) {
    const argv = ['uv', 'python', 'find', '--no-config', '--no-python-downloads', wanted.join(',')] as const;
    const { exitCode, tail } = await run({ argv: [...argv], cwd, env });
    stopped(stop);
    const path = exitCode === 0 ? tail.trim().split('\n').at(-1) : undefined;
    const found = path?.startsWith('/') === true ? await ask(path) : undefined;
    if (found !== undefined) return found;
  }
  throw new EnvironmentError(
    `${kind}-missing`,
    seen.length === 0 ? `${missing[kind]}${why}` : wrongVersion(wanted, seen),
  );
}

/** Names of Python's interpreters on a search path, the usual one first, then the newest. */
const pythonNames: readonly string[] = [
  'python3',
  ...[15, 14, 13, 12, 11, 10, 9].map((minor) => `python3.${minor}`),
  'python',
];

/** Say that the project allows none of the versions here. */
export const wrongVersion = (wanted: readonly string[], seen: readonly string[]): string =>
  `The project needs Python ${wanted.join(', ')}; here is ${seen.join(', ')}. Install such a Python where the service runs, or change requires-python.`;

const pythonProbe = [
  'import json, os, platform, sys',
  'from importlib.util import find_spec',
  'print(json.dumps({"implementation": sys.implementation.name, "version": platform.python_version(),',
  '"executable": os.path.realpath(sys.executable), "venv": all(map(find_spec, ("venv", "ensurepip")))}))',
].join('\n');

const nodeProbe =
  'console.log(JSON.stringify({implementation: "node", version: process.versions.node, executable: process.execPath, venv: true}))';

const Probe = z.object({
  implementation: z.string(),
  version: z.string(),
  executable: z.string().startsWith('/'),
  venv: z.boolean(),
});

const missing = {
  python:
    'This environment needs Python 3, but the search path has no working python3. Install Python 3.9 or newer.',
  node: 'This environment needs Node, but the search path has no working node.',
} as const;

function parse(line: string | undefined): unknown {
  try {
    return JSON.parse(line ?? '');
  } catch {
    return null;
  }
}
