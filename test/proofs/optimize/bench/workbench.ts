import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { planFeeds } from '../../../../shared/onnx/engine/optimize/plan-feeds.ts';
import type { StageOutcome } from '../../../../shared/onnx/engine/process/stage-process.ts';
import type { StageAnswer } from '../../../../shared/onnx/measure/session/stage-answers.ts';
import type { StageKind, TaskOf } from '../../../../shared/onnx/measure/session/stage-task.ts';
import { parseRequest } from '../../../../shared/onnx/methods/apply/parse-request.ts';
import { hardware } from '../../../../shared/onnx/receipt/hardware.ts';
import { isCalibrated } from '../../../../shared/onnx/strategies/optimization-request.ts';
import { startStage } from '../../../support/onnx/start-stage.ts';

export type Request = Readonly<Record<string, unknown>>;

/** A model that stages made, and what making it took. */
export interface Made {
  path: string;
  transform: StageOutcome<'transform'>;
  /** Where ranges were observed. */
  calibrate: StageOutcome<'calibrate'> | undefined;
}

const bounds = { memoryBytes: 16 * 2 ** 30, seconds: 900 } as const;

/** Whether this is the kind of machine that the figures' bounds are for. */
export function isGated(): boolean {
  const { architecture, flags } = hardware();
  return architecture === 'x64' && flags.includes('avx512_vnni');
}

/** Runs the engine's stages for a bench, each in a process of its own as the engine does. */
export class Workbench {
  readonly #program: string;
  readonly #folder: string;
  readonly #signal: AbortSignal;
  readonly say: (line: string) => void;
  /** A Python with ONNX Runtime's quantizer, where there is one: see `compare/requirements.txt`. */
  readonly python: string | undefined;

  constructor(
    program: string,
    folder: string,
    signal: AbortSignal,
    say: (line: string) => void,
    python?: string,
  ) {
    this.#program = program;
    this.#folder = folder;
    this.#signal = signal;
    this.say = say;
    this.python = python;
  }

  /** An empty folder of its own. */
  folder(): string {
    return mkdtempSync(join(this.#folder, 'made-'));
  }

  async stage<K extends StageKind>(task: TaskOf<K>): Promise<StageOutcome<K>> {
    const place = { folder: this.#folder, user: undefined, bounds, say: this.say, signal: this.#signal };
    return await startStage<K>({ ...place, command: [process.execPath, this.#program] }, task);
  }

  async #inputs(model: string): Promise<StageAnswer<'read'>['inputs']> {
    return (await this.stage<'read'>({ kind: 'read', model, shapes: {} })).answer.inputs;
  }

  /** Transforms a model, on ranges of synthetic inputs where it needs any. */
  async make(model: string, request: Request): Promise<Made> {
    this.say(`${request['strategy']}…`);
    const out = this.folder();
    const parsed = parseRequest(request);
    let observed: string | null = null;
    let calibrate: Made['calibrate'];
    if (isCalibrated(parsed)) {
      observed = join(this.folder(), 'observed');
      const sets = { calibration: undefined, evaluation: undefined, request: parsed };
      const feed = planFeeds(sets, await this.#inputs(model)).calibrate;
      const task = {
        kind: 'calibrate',
        model,
        request,
        feed: { ...feed, samples: 8 },
        out: observed,
      } as const;
      calibrate = await this.stage<'calibrate'>(task);
    }
    const result = join(out, 'result');
    mkdirSync(result);
    const task = { kind: 'transform', model, request, exclude: [], observed, out: result } as const;
    const transform = await this.stage<'transform'>({ ...task, exclude: [] });
    return { path: join(result, transform.answer.files[0] ?? ''), transform, calibrate };
  }

  /** Times a result beside its model. */
  async time(before: string, after: string): Promise<NonNullable<StageAnswer<'time'>['latency']>> {
    const request = parseRequest({ operation: 'prune', strategy: 'magnitude_global' });
    const sets = { calibration: undefined, evaluation: undefined, request };
    const feed = planFeeds(sets, await this.#inputs(before)).compare;
    const { latency } = (await this.stage<'time'>({ kind: 'time', before, after, feed })).answer;
    if (latency === null) throw new Error('nothing was timed');
    return latency;
  }
}
