import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { planFeeds } from '../../../../shared/onnx/engine/optimize/plan-feeds.ts';
import { readStage } from '../../../../shared/onnx/engine/stage/read-stage.ts';
import { parseRequest } from '../../../../shared/onnx/methods/apply/parse-request.ts';
import {
  leafOperators,
  operatorsBetween,
} from '../../../../shared/onnx/methods/quantize/static/static-operators.ts';
import { type Case, type Method, requestOf } from './cases.ts';
import { runPython } from './run-python.ts';

/** What a quantization took: from the start of its first process to the end of its last one. */
const Taken = z.object({ seconds: z.number(), cpu_seconds: z.number(), peak_bytes: z.number() });
export type Taken = z.output<typeof Taken>;

/** Where a case is worked at. */
export interface CasePlace {
  python: string;
  folder: string;
  /** Program of the engine's stages. */
  program: string;
  /** The pre-processed model, and what calibrates it. */
  model: string;
  calibration: string;
}

interface Step {
  argv: string[];
  stdin: string | null;
}

export type Side = 'reference' | 'ours';

/** Operators that both quantize. */
function operators(method: Method): readonly string[] {
  return method === 'dynamic'
    ? ['MatMul', 'Gemm', 'Gather', 'LSTM', 'Attention']
    : [...leafOperators, ...operatorsBetween];
}

function referenceSteps({ python, folder, model, calibration }: CasePlace, method: Method): Step[] {
  const out = resultOf(folder, 'reference');
  const task = { method, model, calibration, out, operators: operators(method) };
  return [{ argv: [python, join(import.meta.dirname, 'reference.py'), JSON.stringify(task)], stdin: null }];
}

/** The stages that the engine runs for a request, without those that verify: each a process of its own. */
function ourSteps({ folder, program, model, calibration }: CasePlace, method: Method): Step[] {
  const request = requestOf(method);
  const step = (name: string, task: unknown): Step => {
    const stdin = join(folder, `${name}.json`);
    writeFileSync(stdin, JSON.stringify(task));
    return { argv: [process.execPath, program], stdin };
  };
  const observed = method.startsWith('static_') ? join(folder, 'observed') : null;
  const out = join(folder, 'ours');
  const transform = step('transform', { kind: 'transform', model, request, exclude: [], observed, out });
  if (observed === null) return [transform];
  const { inputs } = readStage({ kind: 'read', model, shapes: {} });
  const feeds = planFeeds({ calibration, evaluation: undefined, request: parseRequest(request) }, inputs);
  return [
    step('calibrate', { kind: 'calibrate', model, request, feed: feeds.calibrate, out: observed }),
    transform,
  ];
}

/** Path of a side's result. */
export const resultOf = (folder: string, side: Side): string => join(folder, side, 'model.onnx');

/** Quantizes in fresh processes on one core. */
export async function quantizeOn(side: Side, place: CasePlace, { method }: Case): Promise<Taken> {
  const folder = join(place.folder, side);
  // What was observed is written anew, too.
  for (const former of [folder, join(place.folder, 'observed')])
    rmSync(former, { recursive: true, force: true });
  mkdirSync(folder);
  const steps = side === 'ours' ? ourSteps(place, method) : referenceSteps(place, method);
  const answers = join(place.folder, 'answers');
  return Taken.parse(
    JSON.parse(await runPython(place.python, 'measured_run.py', { core: 1, steps, answers })),
  );
}
