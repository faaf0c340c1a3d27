import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { TaskOf } from '../../measure/session/stage-task.ts';
import { ModelError } from '../../model/model-error.ts';
import { hardware } from '../../receipt/hardware.ts';
import type { Receipt } from '../../receipt/receipt.ts';
import { processorText } from '../../receipt/speed-sentence.ts';
import { isCalibrated, type OptimizationRequest } from '../../strategies/optimization-request.ts';
import type { Optimization } from '../optimize/optimization.ts';
import type { FeedPlans } from '../optimize/plan-feeds.ts';
import { emptyFolder, lossOf, type Trial, worstError } from '../optimize/run-trial.ts';
import type { StageLog } from '../optimize/stage-log.ts';
import type { Candidate } from './auto-candidates.ts';

/** What a search works with. */
export interface AutoContext {
  optimization: Optimization;
  stages: StageLog;
  feeds: FeedPlans;
  before: StageAnswer<'read'>;
  /** Folder of the result. */
  out: string;
  scratch: string;
}

type Tried = Receipt['candidates'][number];

/** What calibration observed. */
interface Observed {
  folder: string;
  answer: StageAnswer<'calibrate'>;
}

/** A candidate that was measured. */
export interface Measured {
  candidate: Candidate;
  trial: Trial;
  loss: number;
  bytes: number;
  ratio: number | null;
  /** Its time, where speed is the goal. */
  times: StageAnswer<'time'> | null;
  calibrated: StageAnswer<'calibrate'> | null;
}

type Steps = Pick<Candidate, 'steps' | 'compression'>;

/** Seconds that a candidate is timed for, where speed is the goal, and again before it becomes the best. */
const timeSeconds = 1.2;

const confirmSeconds = 3;

/** Applies candidates of `auto` and measures them. The folder of the result always holds the best one so far. */
export class CandidateTrials {
  readonly #context: AutoContext;
  readonly maxLoss: number;
  readonly tried: Tried[] = [];
  readonly notes: string[] = [];
  readonly #observed = new Map<string, Promise<Observed>>();
  #sourceBytes: number | undefined;
  /** Whether what loses too much would gain, as far as that is known: only what holds the target is timed. */
  #wouldGain = false;
  /** The best that holds the target and gains. */
  best: Measured | undefined;
  /** The one that loses least. */
  nearest: Measured | undefined;

  constructor(context: AutoContext) {
    this.#context = context;
    this.maxLoss = context.optimization.request.max_loss ?? 0.01;
  }

  /**
   * The error of a search without a result.
   *
   * @returns a ModelError that names the nearest candidate
   */
  missed(): ModelError {
    const { nearest, maxLoss } = this;
    if (nearest === undefined)
      return new ModelError(`auto could apply no method to this model. ${this.notes.join(' ')}`);
    const { candidate, loss, bytes } = nearest;
    const found = `${candidate.name}, loses ${Number(loss.toPrecision(3))} at ${(bytes / 1e6).toFixed(1)} MB`;
    if (loss > maxLoss)
      return new ModelError(
        `No method loses at most ${maxLoss}: the nearest, ${found}. ${this.#wouldGain ? 'Allow a larger max_loss, or give' : 'None of them makes the model smaller, whatever it may lose. Give'} a calibration set of more samples.`,
      );
    const gain = this.#isForLatency
      ? `faster on this processor (${processorText(hardware())}), so the float form is the fastest`
      : 'smaller';
    const advice = this.#wouldGain ? 'Allow a larger max_loss.' : 'A larger max_loss would not help.';
    return new ModelError(
      `No method that loses at most ${maxLoss} makes the model ${gain}: the nearest, ${found}. ${advice}`,
    );
  }

  get #isForLatency(): boolean {
    return this.#context.optimization.request.goal === 'latency';
  }

  /** What a request is calibrated with, observed once; what was refused once is refused again. */
  async #observe(request: OptimizationRequest): Promise<Observed | null> {
    if (!isCalibrated(request)) return null;
    // What is excluded does not change what is observed of the others, nor does the allocation.
    const key = JSON.stringify({ ...request, exclude: [], allocation: null });
    const known = this.#observed.get(key);
    if (known !== undefined) return await known;
    // An attempt that fails may leave its folder, so that the next one takes another.
    const made = this.#calibrate(request, join(this.#context.scratch, `observed-${this.#observed.size}`));
    this.#observed.set(key, made);
    return await made;
  }

  async #calibrate(request: OptimizationRequest, folder: string): Promise<Observed> {
    const { stages, optimization, feeds } = this.#context;
    const answer = await stages.run<'calibrate'>('calibrate', {
      ...{
        kind: 'calibrate',
        model: optimization.model,
        request: { ...request, exclude: optimization.request.exclude },
      },
      ...{ feed: feeds.calibrate, out: folder },
    });
    return { folder, answer };
  }

  /** Applies steps one after the other; the last one's answer has the layers of all. */
  async transform({ steps, compression }: Steps, stage: string) {
    const { stages, optimization, scratch } = this.#context;
    let { model } = optimization;
    let result: StageAnswer<'transform'> | undefined;
    let calibrated: StageAnswer<'calibrate'> | null = null;
    let folder = '';
    for (const [index, step] of steps.entries()) {
      const observed = await this.#observe(step);
      calibrated ??= observed?.answer ?? null;
      folder = join(scratch, `candidate-${index}`);
      await emptyFolder(folder, optimization.user);
      const exclude = optimization.request.exclude;
      const answer = await stages.run<'transform'>(stage, {
        ...{ kind: 'transform', model, request: { ...step }, exclude: [...exclude] },
        ...{ observed: observed?.folder ?? null, out: folder, name: optimization.name },
        ...(compression !== undefined && { compression }),
      });
      model = join(folder, answer.files[0] ?? '');
      result = { ...answer, layers: [...(result?.layers ?? []), ...answer.layers] };
    }
    if (result === undefined) throw new Error('a candidate has no step');
    return { path: model, folder, transform: result, calibrated };
  }

  /**
   * Compares a candidate with the model on all samples of a feed. With a limit, it stops as soon as the samples
   * show that the candidate exceeds the limit.
   */
  async compare(
    after: string,
    feed: FeedPlans['compare'],
    stage: string,
    limit?: TaskOf<'compare'>['limit'],
  ): Promise<StageAnswer<'compare'>> {
    const { stages, optimization } = this.#context;
    const task = { kind: 'compare', before: optimization.model, after, feed } as const;
    return await stages.run<'compare'>(stage, { ...task, ...(limit !== undefined && { limit }) });
  }

  /**
   * Measures a candidate. Keeps its result if it is the best so far. Returns undefined if it cannot be applied.
   */
  async try(candidate: Candidate): Promise<Measured | undefined> {
    const { optimization, feeds, out } = this.#context;
    const { say } = optimization;
    let measured: Measured;
    let folder: string;
    try {
      const made = await this.transform(candidate, 'candidates');
      folder = made.folder;
      const limit = { of: 'loss', most: this.maxLoss } as const;
      const compare = await this.compare(made.path, feeds.compare, 'candidates', limit);
      const loss = lossOf(compare);
      const bytes = await bytesOf(folder, made.transform.files);
      const isTimed = this.#isForLatency && loss <= this.maxLoss;
      const trial = { excluded: [], transform: made.transform, compare };
      const times = isTimed ? await this.#timeOf(made.path) : null;
      const ratio = times?.latency?.ratio ?? null;
      measured = { candidate, trial, loss, bytes, ratio, times, calibrated: made.calibrated };
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      this.notes.push(`${candidate.name} was not possible: ${error.message}`);
      return undefined;
    }
    const { loss, bytes } = measured;
    say(`${candidate.name}: loses ${Number(loss.toPrecision(3))} at ${(bytes / 1e6).toFixed(1)} MB.`);
    this.#note(measured);
    if (this.nearest === undefined || loss < this.nearest.loss) this.nearest = measured;
    if (loss > this.maxLoss && Number.isFinite(loss))
      this.#wouldGain ||= this.#isForLatency || bytes < (await this.#bytesBefore());
    if (loss > this.maxLoss || !(await this.#isBetter(measured))) return measured;
    this.best = measured;
    await rm(out, { recursive: true, force: true });
    await rename(folder, out);
    return measured;
  }

  async #time(after: string, seconds: number): Promise<StageAnswer<'time'>> {
    const { stages, optimization, feeds } = this.#context;
    const task = { kind: 'time', before: optimization.model, after, seconds } as const;
    return await stages.run<'time'>('candidates', { ...task, feed: feeds.compare });
  }

  /** The time of a candidate: again and for longer where it seems the fastest, so that no one is so by chance. */
  async #timeOf(after: string): Promise<StageAnswer<'time'>> {
    const first = await this.#time(after, timeSeconds);
    const least = this.best?.ratio ?? 1;
    const seemsBest = isFaster(first.latency) && (first.latency?.ratio ?? 1) < least;
    return seemsBest ? await this.#time(after, confirmSeconds) : first;
  }

  /** What the goal measures of a candidate; infinite where it was not timed. */
  #measureOf({ bytes, ratio }: Pick<Measured, 'bytes' | 'ratio'>): number {
    return this.#isForLatency ? (ratio ?? Number.POSITIVE_INFINITY) : bytes;
  }

  async #bytesBefore(): Promise<number> {
    this.#sourceBytes ??= await bytesOf('', this.#context.before.files);
    return this.#sourceBytes;
  }

  async #isBetter(one: Measured): Promise<boolean> {
    const { best } = this;
    // What may be slower than the model is never returned for its speed.
    if (this.#isForLatency && !isFaster(one.times?.latency ?? null)) return false;
    const own = this.#measureOf(one);
    if (best === undefined) return own < (this.#isForLatency ? 1 : await this.#bytesBefore());
    const least = this.#measureOf(best);
    return own < least || (own === least && one.loss < best.loss);
  }

  #note({ candidate, trial, loss, bytes, ratio }: Measured): void {
    const { error } = worstError(trial.compare);
    this.tried.push({
      name: candidate.name,
      steps: candidate.steps.map((step) => ({
        ...step,
        ...(candidate.compression !== undefined && { compression: candidate.compression }),
      })),
      file_bytes: bytes,
      loss: Number.isFinite(loss) ? loss : null,
      error: Number.isFinite(error) ? error : null,
      accuracy: trial.compare?.accuracy?.after ?? null,
      latency_ratio: ratio,
      holds: loss <= this.maxLoss,
      is_on_front: false,
      is_chosen: false,
    });
  }
}

async function bytesOf(folder: string, files: readonly string[]): Promise<number> {
  let sum = 0;
  for (const name of files) sum += (await stat(join(folder, name))).size;
  return sum;
}

/** Whether the whole interval of a time is below that of the model. */
const isFaster = (latency: Receipt['latency']): boolean => latency !== null && latency.ratio_interval[1] < 1;
