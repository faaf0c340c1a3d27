// Puts every model of a folder through every method: every-method.ts [--folder <models>] [--python <with onnx>]
// [--only <part of a name>]. Ends with 1 where anything but a clear refusal kept a result from being right.
import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { extendedFlag } from '../../../shared/onnx/measure/session/extended-flag.ts';
import { Checker } from './every-method/checker.ts';
import { Outcome } from './every-method/outcome.ts';
import { trials } from './every-method/requests.ts';
import { type ModelOutcomes, summaryText } from './every-method/summary.ts';

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: '.data/zoo/models' },
    python: { type: 'string', default: '.data/zoo/python/bin/python' },
    only: { type: 'string', default: '' },
  },
});

/** Without an outcome. */
const maxSeconds = 600;

interface Ran {
  outcomes: Outcome[];
  /** How the process ended where it did not answer all. */
  end: string;
}

async function runTrials(model: string, folder: string, first: number, flags: string[]): Promise<Ran> {
  const set = model.replace(/\.onnx$/, '.npz');
  const program = join(import.meta.dirname, 'every-method/try-model.ts');
  const args = [program, model, existsSync(set) ? set : '', folder, String(first), ...flags];
  return await new Promise((resolve) => {
    const env = { ...process.env, ORT_DISABLE_TELEMETRY: '1' };
    const child = execFile(process.execPath, args, { maxBuffer: 2 ** 26, env }, (error, stdout, stderr) => {
      clearTimeout(timer);
      const outcomes = stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => Outcome.parse(JSON.parse(line)));
      resolve({
        outcomes,
        end: error === null ? '' : `${error.signal ?? error.code}: ${stderr.slice(-400)}`,
      });
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), maxSeconds * 1000);
    child.stdout?.on('data', () => timer.refresh());
  });
}

/**
 * A method whose process crashes is tried again, as is done with every model, with fewer optimizations of ONNX Runtime, and so
 * are those after it. One that ends its process then, or takes too long, is a failure.
 */
async function everyMethod(model: string, folder: string): Promise<Outcome[]> {
  const all: Outcome[] = [];
  let flags: string[] = [];
  while (all.length < trials.length) {
    const { outcomes, end } = await runTrials(model, folder, all.length, flags);
    all.push(...outcomes);
    const trial = trials[all.length]?.name;
    if (trial === undefined) break;
    if (flags.length === 0 && !end.startsWith('SIGKILL')) {
      process.stderr.write(`${basename(model)}: ${trial}: ${end}; tried with the extended optimizations\n`);
      flags = [extendedFlag];
      continue;
    }
    const reason = `the process ended (${end})`;
    all.push({ trial, outcome: 'failed', reason, error: null, accuracy: null, file: null });
  }
  return all;
}

async function checked(outcome: Outcome, checker: Checker, sourceFault: string | null): Promise<Outcome> {
  if (outcome.file === null || outcome.outcome === 'failed') return outcome;
  const fault = await checker.fault(outcome.file);
  // Where the check refuses the model itself, it cannot tell anything of the result.
  if (fault === null || sourceFault !== null) return outcome;
  return { ...outcome, outcome: 'failed', reason: `onnx.checker: ${fault}` };
}

using checker = new Checker(values.python);
const all: ModelOutcomes[] = [];
for (const model of globSync(join(values.folder, '**/*.onnx')).sort()) {
  if (!model.includes(values.only)) continue;
  const folder = mkdtempSync(join(tmpdir(), 'every-method-'));
  try {
    const sourceFault = await checker.fault(model);
    const outcomes: Outcome[] = [];
    for (const outcome of await everyMethod(model, folder)) {
      outcomes.push(await checked(outcome, checker, sourceFault));
    }
    all.push({ model: basename(model, '.onnx'), outcomes });
    const failed = outcomes.filter(({ outcome }) => outcome === 'failed').map(({ trial }) => trial);
    process.stderr.write(`${basename(model)}${failed.length === 0 ? '' : `: FAILED ${failed.join(', ')}`}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
const log = join(values.folder, 'not-exported.txt');
const notExported = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').filter(Boolean) : [];
process.stdout.write(summaryText(all, notExported));
process.exitCode = all.some(({ outcomes }) => outcomes.some(({ outcome }) => outcome === 'failed')) ? 1 : 0;
