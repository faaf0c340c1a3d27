// How often the gate on time fails without cause: gate-alarms.ts [--repeats 20] [--seconds 1] [--model <file>]. Measures a
// file beside a copy of itself again and again. Ends with 1 where a bound is missed.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseGate } from '../../../shared/gates/parse-gate.ts';
import { measureModels } from '../../../shared/onnx/engine/measure/measure-models.ts';
import { bundleStage } from './bundle-stage.ts';

const { values } = parseArgs({
  options: {
    repeats: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '1' },
    model: { type: 'string', default: join(import.meta.dirname, '../../fixtures/onnx/digits.onnx') },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(
    'Usage: npm run proof -- gates [-- [--repeats <count>] [--seconds <number>] [--model <file>]]\n',
  );
  process.exit(0);
}
const repeats = Number(values.repeats);
const bounds = ['1.0x', '1.05x'];
/** Share of the repeats in which a gate may fail. */
const mostAlarms = 0.01;

const folder = mkdtempSync(join(tmpdir(), 'gate-alarms-'));
using stage = await bundleStage();
const [file, base] = ['file.onnx', 'base.onnx'].map((name) => join(folder, name));
if (file === undefined || base === undefined) throw new Error('there are two files');
copyFileSync(values.model, file);
copyFileSync(values.model, base);
const counts = new Map(bounds.map((bound) => [bound, { failed: 0, undecided: 0, passed: 0, unmeasured: 0 }]));
const ratios: number[] = [];
try {
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    const { gates, latency } = await measureModels({
      ...{ file, base, data: undefined, folder, seed: repeat, seconds: Number(values.seconds) },
      gates: bounds.map((bound) => parseGate(`latency <= ${bound}`)),
      isGated: true,
      stageCommand: [process.execPath, stage.program],
      limits: {},
      say: console.error,
      progress: () => {},
      signal: new AbortController().signal,
    });
    for (const [at, { verdict }] of gates.entries()) {
      const count = counts.get(bounds[at] ?? '');
      if (count !== undefined) count[verdict] += 1;
    }
    ratios.push(latency?.ratio?.value ?? 1);
    if (repeat % 20 === 0 || repeat === repeats)
      console.log(
        `${repeat} of ${repeats}: ${[...counts].map(([bound, { failed, undecided, passed }]) => `latency <= ${bound} failed ${failed}, undecided ${undecided}, passed ${passed}`).join('; ')}`,
      );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
ratios.sort((a, b) => a - b);
const [least = 1, most = 1] = [ratios[0], ratios.at(-1)];
console.log(`The files are the same; their ratios went from ${least.toFixed(3)} to ${most.toFixed(3)}.`);
const missed = [...counts].filter(([, { failed }]) => failed / repeats >= mostAlarms);
for (const [bound, { failed }] of counts)
  console.log(
    `latency <= ${bound}: ${failed} false alarms in ${repeats} (bound: under ${mostAlarms * 100} %)`,
  );
process.exitCode = missed.length === 0 ? 0 : 1;
