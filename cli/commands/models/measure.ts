import { once } from 'node:events';
import { parseGate } from '../../../shared/gates/parse-gate.ts';
import { exitCodes, refuseBoth } from '../../cli-error.ts';
import { runEngine } from '../../run-engine.ts';
import { localPath } from '../arguments.ts';
import { command } from '../command.ts';
import { choice, json, text } from '../flags.ts';

/** Parse a gate condition. Without one, `--gate` requires a useful file. */
function condition(text: string): string {
  if (text !== '') parseGate(text);
  return text;
}

export const measureCommand = command({
  brief: 'Compare an ONNX file with another one, without a service',
  help: `Compares size, accuracy and time of two ONNX files. It runs them alternately and gives confidence intervals. It needs Node 24 or newer and ONNX Runtime, and no service.

Conditions: accuracy >= base - 0.5%, agreement >= 99%, error <= 0.05, bytes <= 12MB, latency <= 0.8x.

Examples:
  mps measure small.onnx --base model.onnx --data test.npz
  mps measure small.onnx --base model.onnx --data test.npz --gate "accuracy >= base - 0.5%" "latency <= 0.8x" --markdown`,
  args: [localPath('An ONNX file')],
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
    markdown: choice('Print a table in Markdown'),
  },
  /** Measure in a child process. Pass its output through and pass Ctrl-C on to it. */
  async run(flags, file) {
    refuseBoth({ json: flags.json, markdown: flags.markdown }, 'Choose one of --json and --markdown.');
    const { gate = [], json: isJson = false, markdown = false, ...named } = flags;
    const texts = (['base', 'data', 'inputs', 'seconds', 'memory'] as const).flatMap((name) => {
      const text = named[name];
      return text === undefined ? [] : [`--${name}=${text}`];
    });
    const args = [
      ...['measure', file, ...texts],
      ...gate.flatMap((text) => (text === '' ? ['--gate'] : [`--gate=${text}`])),
      ...(isJson ? ['--json'] : []),
      ...(markdown ? ['--markdown'] : []),
    ];
    const child = runEngine(this, args);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.process.stdout.write(text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.printer.raw(text));
    const passOn = () => void child.kill('SIGINT');
    process.on('SIGINT', passOn);
    try {
      const [code] = (await once(child, 'close')) as [number | null];
      this.process.exitCode = code ?? exitCodes.failure;
    } finally {
      process.off('SIGINT', passOn);
    }
  },
});
