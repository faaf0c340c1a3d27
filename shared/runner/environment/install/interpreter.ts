import * as z from 'zod';
import { EnvironmentError } from '../environment-error.ts';
import { type RunCommand, stopped } from './installer.ts';

export interface Interpreter {
  /** Implementation and real version: `cpython-3.11.7`, `node-24.1.0`. */
  identity: string;
  /** Absolute path of the real binary, with shims and links resolved. */
  executable: string;
  /** Whether it can create virtual environments with pip; always true for Node. */
  venv: boolean;
}

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
    'This environment needs Python 3, and no python3 on the search path works. Install Python 3.9 or newer.',
  node: 'This environment needs Node, and no node on the search path works.',
} as const;

/**
 * Ask the `python3` or `node` on the search path for its version and path, as the user who will run it.
 * @throws EnvironmentError `python-missing`, `node-missing`, `stopped`
 */
export async function probeInterpreter(
  kind: 'python' | 'node',
  run: RunCommand,
  cwd: string,
  env: Record<string, string>,
  stop: AbortSignal,
): Promise<Interpreter> {
  const argv =
    kind === 'python'
      ? (['python3', '-I', '-c', pythonProbe] as const)
      : (['node', '-e', nodeProbe] as const);
  const result = await run({ argv: [...argv], cwd, env });
  stopped(stop);
  const line = result.tail.split('\n').findLast((text) => text.startsWith('{'));
  const probe = result.exitCode === 0 ? Probe.safeParse(parse(line)) : undefined;
  if (probe?.success !== true) {
    const why = result.message === undefined ? '' : ` (${result.message})`;
    throw new EnvironmentError(`${kind}-missing`, `${missing[kind]}${why}`);
  }
  const { implementation, version, executable, venv } = probe.data;
  return { identity: `${implementation}-${version}`, executable, venv };
}

function parse(line: string | undefined): unknown {
  try {
    return JSON.parse(line ?? '');
  } catch {
    return null;
  }
}
