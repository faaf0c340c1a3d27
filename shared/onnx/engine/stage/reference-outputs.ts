import { requireRequestedShapes } from '../../measure/session/require-requested-shapes.ts';
import { runSample } from '../../measure/session/run-sample.ts';
import { samplesOf } from '../../measure/session/samples.ts';
import { type Session, tensorNumbers } from '../../measure/session/session.ts';
import { modelIdentity, type SessionPool } from '../../measure/session/session-pool.ts';
import type { Sample } from '../../measure/session/set-samples.ts';
import type { TaskOf } from '../../measure/session/stage-task.ts';
import { addScores, labelReading, labelsMet, noLabels } from '../../measure/verify/label-score.ts';
import { ModelError } from '../../model/model-error.ts';

/** Maximum bytes of model outputs in memory. Outputs of further samples are computed again. */
const maxKept = 256 * 2 ** 20;

export type Outputs = Awaited<ReturnType<Session['run']>>;
type Task = Pick<TaskOf<'compare'>, 'before' | 'feed' | 'seconds'>;

/** Outputs of the model, as the reference for its results. */
export interface ReferenceOutputs {
  /** Outputs of the first samples. */
  kept: Outputs[];
  first: Sample | undefined;
  /** Number of samples that ran, and of those compared. The others count only for labels. */
  samples: number;
  compared: number;
  /** Names of outputs that are not tensors. */
  otherOutputs: readonly string[];
  /** Correct labels per sample, and the total score. */
  met: number[];
  score: ReturnType<typeof labelsMet>;
  reading: ReturnType<typeof labelReading>;
  /** ‖y‖² of each output over the finite values of all samples. */
  squaredNorms: Map<string, number>;
}

const bytesOf = (outputs: Outputs): number =>
  [...outputs.values()].reduce(
    (sum, value) => sum + (value.type === 'other' ? 0 : value.values.byteLength),
    0,
  );

/** Refuse model outputs with other shapes than requested, if a set determines them. */
function requireAskedOutputs({ feed }: Task, outputs: Outputs): void {
  const shapes = [...outputs].flatMap(([name, value]) =>
    value.type === 'other' ? [] : [[name, value.dims] as const],
  );
  requireRequestedShapes('outputs', feed.asked, shapes);
}

function addNorms(norms: Map<string, number>, outputs: Outputs): void {
  for (const [name, value] of outputs) {
    if (value.type === 'other') continue;
    let sum = norms.get(name) ?? 0;
    const numbers = tensorNumbers(value);
    for (let at = 0; at < numbers.length; at += 1) {
      const number = numbers[at] ?? 0;
      if (Number.isFinite(number)) sum += number * number;
    }
    norms.set(name, sum);
  }
}

async function runReference(
  session: Session,
  task: Task,
  progress: (fraction: number) => void,
): Promise<ReferenceOutputs> {
  if (session.outputNames.length === 0) throw new ModelError('No output of the model is a tensor.');
  const run: ReferenceOutputs = {
    ...{ kept: [], first: undefined, samples: 0, compared: 0, otherOutputs: session.otherOutputs },
    ...{ met: [], score: noLabels, reading: undefined, squaredNorms: new Map() },
  };
  let room = maxKept;
  const started = performance.now();
  const isLate = () => task.seconds !== undefined && performance.now() - started > task.seconds * 1000;
  for await (const sample of samplesOf(task.feed)) {
    // With a time limit, samples that do not fit into memory run only for their labels.
    const isCompared = task.seconds === undefined || room > 0;
    if ((!isCompared && sample.labels === undefined) || (run.samples > 0 && isLate())) break;
    const outputs = await runSample(session, task.feed, sample);
    if (run.first === undefined) requireAskedOutputs(task, outputs);
    run.first ??= sample;
    run.samples += 1;
    if (isCompared) {
      run.compared += 1;
      addNorms(run.squaredNorms, outputs);
    }
    if (room > 0) {
      run.kept.push(outputs);
      room -= bytesOf(outputs);
    }
    if (sample.labels !== undefined) {
      run.reading ??= labelReading(outputs, sample.labels);
      if (run.reading === undefined) {
        throw new ModelError(`No output of the model fits labels of [${sample.labels.dims.join(', ')}].`);
      }
      const score = labelsMet(outputs, sample.labels, run.reading);
      run.met.push(score.met);
      run.score = addScores(run.score, score);
    }
    progress(run.samples / task.feed.samples);
  }
  return run;
}

/** Caches the outputs of a model for all results that are compared with it on the same samples. */
export class ReferenceCache {
  #known: { key: string; reference: ReferenceOutputs } | undefined;

  async outputs(
    task: Task,
    sessions: SessionPool,
    progress: (fraction: number) => void,
  ): Promise<ReferenceOutputs> {
    const { before, feed, seconds } = task;
    const key = JSON.stringify([modelIdentity(before), feed, seconds]);
    if (this.#known?.key === key) return this.#known.reference;
    this.#known = undefined;
    const reference = await sessions.use(before, 'model', (session) => runReference(session, task, progress));
    this.#known = { key, reference };
    return reference;
  }
}

/** Computes the model outputs that were not kept, in batches that fit into memory. */
export class FurtherOutputs {
  readonly #task: Task;
  readonly #sessions: SessionPool;
  readonly #samples: AsyncGenerator<Sample, void, undefined>;
  readonly #compared: number;
  #done = 0;

  constructor(task: Task, sessions: SessionPool, { compared }: ReferenceOutputs) {
    this.#task = task;
    this.#sessions = sessions;
    this.#samples = samplesOf(task.feed);
    this.#compared = compared;
  }

  /** Return the outputs of the samples from `start`, as many as fit into memory; empty if all were compared. */
  async from(start: number): Promise<Outputs[]> {
    if (start >= this.#compared) return [];
    for (; this.#done < start; this.#done += 1) await this.#samples.next();
    return await this.#sessions.use(this.#task.before, 'model', async (session) => {
      const outputs: Outputs[] = [];
      for (let room = maxKept; room > 0 && this.#done < this.#compared; this.#done += 1) {
        const { value: sample } = await this.#samples.next();
        if (sample === undefined) break;
        const one = await runSample(session, this.#task.feed, sample);
        outputs.push(one);
        room -= bytesOf(one);
      }
      return outputs;
    });
  }

  async end(): Promise<void> {
    await this.#samples.return();
  }
}
