import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { platform } from '../shared/host/platform.ts';
import { CliError } from './cli-error.ts';
import type { CliContext } from './context.ts';
import { wholeText } from './incomplete.ts';
import { checkoutFolder } from './login/checkout.ts';

const launcher = 'shared/onnx/cli/launch.mjs';

/**
 * Start the engine in a child process.
 *
 * @throws CliError if this command comes without the engine
 */
export function runEngine(context: CliContext, args: readonly string[]): ChildProcess {
  const program = engineProgram(context.env);
  const [node, ...before] = nodeFor(program);
  if (before.length > 0) context.printer.say('Measuring with the Node of the service; npm fetches it once.');
  const options = { cwd: context.folder, stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'] };
  return spawn(node, [...before, program, ...args], options);
}

/**
 * Install ONNX Runtime beside the engine of the package if it is not there: nobody types a command in a job of CI.
 *
 * @throws CliError if npm cannot install it
 */
export function installRuntime(context: CliContext): Promise<void> {
  // Node remembers for a process that a package was not there.
  installed ??= install(context);
  return installed;
}

let installed: Promise<void> | undefined;

async function install({ env, printer }: CliContext): Promise<void> {
  const program = engineProgram(env);
  if (program.endsWith(launcher)) return;
  try {
    createRequire(program).resolve('onnxruntime-node');
  } catch {
    printer.say(`Installing ONNX Runtime ${publishedRuntime}.`);
    const folder = dirname(dirname(program));
    const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
    await promisify(execFile)('npm', [...args, `onnxruntime-node@${publishedRuntime}`]).catch((error) => {
      throw new CliError(`npm cannot install ONNX Runtime: ${String(error?.stderr ?? error).trim()}`);
    });
  }
}

/** Return the path of the engine's program: from the package next to this command, or from a checkout. */
function engineProgram(env: CliContext['env']): string {
  const checkout = checkoutFolder(env);
  const found = [
    fileURLToPath(new URL('engine/main.js', import.meta.url)),
    // Paths from a checkout's bundle and from its sources.
    fileURLToPath(new URL(`../../${launcher}`, import.meta.url)),
    fileURLToPath(new URL(`../${launcher}`, import.meta.url)),
    ...(checkout === undefined ? [] : [join(checkout, launcher)]),
  ].find((path) => existsSync(path));
  if (found === undefined)
    throw new CliError(`What measures models is not beside this command. ${wholeText()}`);
  return found;
}

/**
 * Return the command that runs the engine: a checkout pins its own Node, an installed package uses the user's. Where that
 * is too old, npm fetches the Node that the service runs on, once.
 */
function nodeFor(program: string): readonly [string, ...string[]] {
  const pinned = program.endsWith(launcher)
    ? join(program.slice(0, -launcher.length), 'node_modules/.bin/node')
    : '';
  if (existsSync(pinned)) return [pinned];
  const version = publishedNodes[platform];
  const isRecent = Number.parseInt(process.versions.node, 10) >= minMajor;
  if (isRecent || version === undefined) return [process.execPath];
  const name = `node-${platform}@${version}`;
  return ['npm', 'exec', '--yes', '--ignore-scripts', `--package=${name}`, '--', 'node'];
}

/** First major version of Node on which the engine runs. */
const minMajor = 24;

/** Versions of the service's Node that npm has, as in `optionalDependencies` of `package.json`. */
export const publishedNodes: Readonly<Record<string, string>> = {
  'darwin-x64': '24.18.1',
  'linux-arm64': '24.21.0',
  'linux-x64': '24.21.0',
};

/** Version of ONNX Runtime in `package.json`. */
export const publishedRuntime = '1.30.0';
