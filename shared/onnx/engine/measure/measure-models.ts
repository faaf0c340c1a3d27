import { basename, join } from 'node:path';
import { type Gate, needsBase, needsLabels } from '../../../gates/gate.ts';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { FedInput } from '../../measure/session/stage-task.ts';
import { ModelError } from '../../model/model-error.ts';
import type { Optimization } from '../optimize/optimization.ts';
import { boundsOf, fitInMemory, syntheticInputs } from '../optimize/plan-feeds.ts';
import { emptyFolder } from '../optimize/run-trial.ts';
import { StageRunner } from '../optimize/stage-runner.ts';
import { assembleMeasurement, type Side } from './assemble-measurement.ts';
import type { Measurement } from './measurement.ts';

/**
 * Measure an ONNX file, usually against another one: bytes, accuracy and agreement on all samples of a set, and
 * time in alternation. Judge it by gates.
 *
 * @throws ModelError for a file, a set or a gate that cannot be measured; the signal's reason when aborted
 */
export async function measureModels(task: MeasureTask): Promise<Measurement> {
  requireJudgeable(task.gates, task);
  const measuring = new Measuring(task);
  try {
    return await measuring.run();
  } finally {
    await measuring.stages.end();
  }
}

/** Input of a measurement. */
export interface MeasureTask
  extends Pick<Optimization, 'folder' | 'stageCommand' | 'limits' | 'say' | 'progress' | 'signal'> {
  file: string;
  /** The file to compare with. */
  base: string | undefined;
  /** Path of an npz file with inputs, and with `labels` for accuracy. */
  data: string | undefined;
  /** Dimensions of inputs by name, if there is no set. */
  shapes?: Optimization['shapes'];
  gates: readonly Gate[];
  /** Whether a useless file fails even if no gate limits the loss. */
  isGated: boolean;
  /** Seconds of timing; longer if ten rounds take longer. 0 for no timing. */
  seconds: number;
  seed: number;
}

/** Refuse gates that this task cannot judge. @throws ModelError naming the missing input */
export function requireJudgeable(
  gates: readonly Gate[],
  { base, data }: Readonly<Record<'base' | 'data', unknown>>,
): void {
  const faults = gates.flatMap((gate) => [
    ...(needsBase(gate) && base === undefined
      ? [`gate ${JSON.stringify(gate.text)} refers to another file: give it with --base.`]
      : []),
    ...(needsLabels(gate) && data === undefined
      ? [`gate ${JSON.stringify(gate.text)} needs a set with an array "labels": give it with --data.`]
      : []),
  ]);
  if (faults.length > 0) throw new ModelError(faults.join(' '));
}

/** All samples of a set. */
const all = 2 ** 31 - 1;

/** Number of synthetic samples if there is no set. */
const madeUpSamples = 8;

class Measuring {
  readonly #task: MeasureTask;
  readonly #bounds;
  readonly stages: StageRunner;
  readonly #notes: string[] = [];

  constructor(task: MeasureTask) {
    this.#task = task;
    this.#bounds = boundsOf(task.limits);
    const { folder, stageCommand, say, signal } = task;
    const options = {
      command: stageCommand,
      user: undefined,
      folder: join(folder, 'work'),
      bounds: this.#bounds,
    };
    this.stages = new StageRunner({ ...options, say, signal }, task.progress, {
      areKept: true,
      fallsBack: true,
    });
  }

  /** Read a model and plan its inputs. */
  async #side(path: string): Promise<Side> {
    const { data, shapes, seed } = this.#task;
    const given = Object.fromEntries([...(shapes ?? [])].map(([input, dims]) => [input, [...dims]]));
    const read = await this.stages.run<'read'>('read', { kind: 'read', model: path, shapes: given });
    if (!fitInMemory(this.#bounds, read.weight_bytes))
      throw new ModelError(`${basename(path)} is too large to run on this machine.`);
    if (!read.has_tensor_output) throw new ModelError(`No output of ${basename(path)} is a tensor.`);
    if (data !== undefined)
      return {
        path,
        read,
        feed: { inputs: read.inputs, set: data, source: 'evaluation', samples: all, seed },
      };
    const made = await syntheticInputs({ model: path, shapes, request: { seed } }, this.stages, read.inputs);
    if (made.why !== undefined) throw new ModelError(`${basename(path)}: ${made.why}`);
    this.#notes.push(...made.notes);
    const feed = {
      inputs: made.inputs,
      set: null,
      source: 'synthetic',
      samples: madeUpSamples,
      seed,
    } as const;
    return { path, read, feed };
  }

  async #race(base: Side | undefined, file: Side): Promise<StageAnswer<'race'> | null> {
    if (this.#task.seconds === 0) return null;
    const weights = [base, file].map((side) => side?.read.weight_bytes ?? 0);
    return await this.stages.run<'race'>('time', {
      kind: 'race',
      base: base === undefined ? null : { path: base.path, feed: base.feed },
      file: { path: file.path, feed: file.feed },
      together: fitInMemory(this.#bounds, ...weights),
      seconds: this.#task.seconds,
    });
  }

  async run(): Promise<Measurement> {
    const { gates, isGated, ...task } = this.#task;
    await emptyFolder(join(task.folder, 'work'), undefined);
    const file = await this.#side(task.file);
    const base = task.base === undefined ? undefined : await this.#side(task.base);
    if (base !== undefined) requireAlike(base, file);
    const compare = await this.stages.run<'compare'>('compare', {
      kind: 'compare',
      before: (base ?? file).path,
      after: file.path,
      feed: (base ?? file).feed,
      after_inputs: file.feed.inputs,
    });
    if (compare.accuracy === null && gates.some(needsLabels))
      throw new ModelError('A gate on accuracy needs labels, but the set has no array "labels".');
    const race = await this.#race(base, file);
    return assembleMeasurement({
      isGated,
      base,
      file,
      compare,
      race,
      gates,
      notes: this.#notes,
      warnings: this.stages.warnings,
    });
  }
}

/** Refuse files with different inputs. */
function requireAlike(base: Side, file: Side): void {
  const [one, other] = [base.read.inputs, file.read.inputs];
  if (one.length !== other.length)
    throw new ModelError(
      `The files have different inputs, so they cannot be compared: ${basename(base.path)} ${inputsText(one)}; ${basename(file.path)} ${inputsText(other)}.`,
    );
}

const inputsText = (inputs: readonly FedInput[]): string =>
  inputs.map(({ name, type }) => `${JSON.stringify(name)} (${type})`).join(', ') || 'none';
