import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildCommand } from '@stricli/core';
import { parseGate } from '../../../shared/gates/parse-gate.ts';
import { platform } from '../../../shared/host/platform.ts';
import { CliError, exitCodes, refuseBoth } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { checkoutFolder } from '../../login/checkout.ts';
import { localPath } from '../arguments.ts';
import { json, text, verbose } from '../flags.ts';

interface Flags {
  base?: string;
  data?: string;
  gate?: readonly string[];
  inputs?: string;
  seconds?: string;
  memory?: string;
  json?: boolean;
  markdown?: boolean;
  verbose?: boolean;
}

const launcher = 'shared/onnx/cli/launch.mjs';

/** Return the path of the engine's program: from the package next to this command, or from a checkout. */
function engineProgram(env: CliContext['env']): string {
  const checkout = checkoutFolder(env);
  const found = [
    fileURLToPath(new URL('engine/main.js', import.meta.url)),
    // Paths from a checkout's bundle and from its sources.
    fileURLToPath(new URL(`../../${launcher}`, import.meta.url)),
    fileURLToPath(new URL(`../../../${launcher}`, import.meta.url)),
    ...(checkout === undefined ? [] : [join(checkout, launcher)]),
  ].find((path) => existsSync(path));
  if (found === undefined)
    throw new CliError('This file does not contain the engine. Install mps.tgz from the service instead.');
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

/** Measure in a child process. Pass its output through and pass Ctrl-C on to it. */
async function measure(this: CliContext, flags: Flags, file: string): Promise<void> {
  refuseBoth({ json: flags.json, markdown: flags.markdown }, 'Choose one of --json and --markdown.');
  const { gate = [], json: isJson = false, markdown = false, ...named } = flags;
  const texts = (['base', 'data', 'inputs', 'seconds', 'memory'] as const).flatMap((name) => {
    const text = named[name];
    return text === undefined ? [] : [`--${name}=${text}`];
  });
  const program = engineProgram(this.env);
  const args = [
    ...[program, 'measure', file, ...texts],
    ...gate.flatMap((text) => (text === '' ? ['--gate'] : [`--gate=${text}`])),
    ...(isJson ? ['--json'] : []),
    ...(markdown ? ['--markdown'] : []),
  ];
  const [node, ...before] = nodeFor(program);
  if (before.length > 0) this.printer.say('Measuring with the Node of the service; npm fetches it once.');
  const child = spawn(node, [...before, ...args], { cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.setEncoding('utf8').on('data', (text: string) => this.process.stdout.write(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => this.printer.raw(text));
  const passOn = () => void child.kill('SIGINT');
  process.on('SIGINT', passOn);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    this.process.exitCode = code ?? exitCodes.failure;
  } finally {
    process.off('SIGINT', passOn);
  }
}

/** Parse a gate condition. Without one, `--gate` requires a useful file. */
function condition(text: string): string {
  if (text !== '') parseGate(text);
  return text;
}

export const measureCommand = buildCommand<Flags, [string], CliContext>({
  func: measure,
  parameters: {
    positional: { kind: 'tuple', parameters: [localPath('An ONNX file')] },
    flags: {
      base: text('FILE', 'ONNX file to compare with'),
      data: text(
        'FILE',
        'npz file with an array of samples per input, named as the input; an array "labels" enables accuracy',
      ),
      gate: {
        ...{ kind: 'parsed', parse: condition, inferEmpty: true, variadic: true, optional: true },
        placeholder: 'CONDITION',
        brief: 'Condition to hold, else exit with 4; without a condition: the file is useful',
      },
      inputs: text('SHAPES', 'Shapes of the generated inputs, without a data set'),
      seconds: text('N', 'Seconds for timing (default: 10)'),
      memory: text('MIB', 'Memory limit of a stage in MiB'),
      json,
      markdown: { kind: 'boolean', brief: 'Print a table in Markdown', optional: true, withNegated: false },
      verbose,
    },
  },
  docs: {
    brief: 'Compare an ONNX file with another one, without a service',
    fullDescription: `Compares size, accuracy and time of two ONNX files. It runs them alternately and gives confidence intervals. It needs Node 24 or newer and ONNX Runtime, and no service.

Conditions: accuracy >= base - 0.5%, agreement >= 99%, error <= 0.05, bytes <= 12MB, latency <= 0.8x.

Examples:
  mps measure small.onnx --base model.onnx --data test.npz
  mps measure small.onnx --base model.onnx --data test.npz --gate "accuracy >= base - 0.5%" "latency <= 0.8x" --markdown`,
  },
});
