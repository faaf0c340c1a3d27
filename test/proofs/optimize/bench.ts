// The figures of the engine: npm run proof -- engine [--only <group>] [--python <one with compare/requirements.txt>]
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import type { Figure } from '../bench/figure.ts';
import { type MeasuredGroup, renderTable, summary } from '../bench/figure-table.ts';
import { measureArchitecture } from './bench/architecture.ts';
import { bertCells, mobilenetCells, resnetCells, shortBertCells } from './bench/cells.ts';
import { measureLargeModel } from './bench/over-two-gigabytes.ts';
import { isGated, Workbench } from './bench/workbench.ts';
import { bundleStage } from './bundle-stage.ts';
import { bert } from './shapes/bert.ts';
import { mobilenetV2 } from './shapes/mobilenet-v2.ts';
import { resnet18 } from './shapes/resnet18.ts';

interface Group {
  name: string;
  title: string;
  measure(bench: Workbench): Promise<Figure[]>;
}

const groups: readonly Group[] = [
  {
    name: 'mobilenet-v2',
    title: 'MobileNetV2 shape',
    measure: (bench) => measureArchitecture(bench, mobilenetV2(), mobilenetCells),
  },
  {
    name: 'resnet18',
    title: 'ResNet18 shape',
    measure: (bench) => measureArchitecture(bench, resnet18(), resnetCells),
  },
  {
    name: 'bert',
    title: '2-layer BERT shape, 128 tokens',
    measure: (bench) => measureArchitecture(bench, bert(), bertCells),
  },
  {
    name: 'bert-1',
    title: '2-layer BERT shape, 1 token',
    measure: (bench) => measureArchitecture(bench, bert({ sequence: 1 }), shortBertCells),
  },
  { name: 'large', title: 'Over 2 GB, external data', measure: measureLargeModel },
];

const usage = `Usage: npm run proof -- engine [--only <group>]… [--python <program>]
  --only    measure only this group: ${groups.map(({ name }) => name).join(', ')}
  --python  a Python with ONNX Runtime: its own quantizer makes the 4-bit model, too, and both are timed`;
const options = { only: { type: 'string', multiple: true }, python: { type: 'string' } } as const;

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function measured(
  { name, title, measure }: Group,
  program: string,
  python: string | undefined,
): Promise<MeasuredGroup> {
  say(`${title}…`);
  const folder = mkdtempSync(join(tmpdir(), 'bench-optimize-'));
  const begun = performance.now();
  const ended = (figures: Figure[], failure: string | undefined): MeasuredGroup => {
    return { name, title, figures, failure, seconds: (performance.now() - begun) / 1000 };
  };
  try {
    const bench = new Workbench(program, folder, interrupted.signal, (line) => say(`  ${line}`), python);
    return ended(await measure(bench), undefined);
  } catch (error) {
    interrupted.signal.throwIfAborted();
    return ended([], error instanceof Error ? error.message : String(error));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Ends with 1 where a bound is missed or something could not be measured, so that a release can depend on it. */
async function bench(): Promise<number> {
  const { only, python } = readFlags(usage, { options }).values;
  const unknown = only?.find((name) => groups.every((group) => group.name !== name));
  if (unknown !== undefined) throw new CommandError(`There is no group "${unknown}".\n${usage}`);
  using bundled = await bundleStage();
  const all: MeasuredGroup[] = [];
  for (const group of groups) {
    if (only?.includes(group.name) ?? true) all.push(await measured(group, bundled.program, python));
  }
  const gate = isGated() ? 'bounds are judged' : 'no x64 with AVX512-VNNI: speeds are only told';
  const place = `${cpus()[0]?.model.trim()}, ${availableParallelism()} CPUs, load ${(loadavg()[0] ?? 0).toFixed(1)}; ${gate}`;
  process.stdout.write(`\n${place}\n\n${renderTable(all)}\n${summary(all)}\n`);
  const isMissed = all.some(
    ({ failure, figures }) => failure !== undefined || figures.some(({ bound }) => bound?.isMet === false),
  );
  return isMissed ? 1 : 0;
}

await runMain(bench);
