import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { StageKind, TaskOf } from '../../measure/session/stage-task.ts';
import { ModelError } from '../../model/model-error.ts';
import { hardware } from '../../receipt/hardware.ts';
import type { Receipt } from '../../receipt/receipt.ts';
import { processorText } from '../../receipt/speed-sentence.ts';
import { isCalibrated, type OptimizationRequest } from '../../strategies/optimization-request.ts';
import type { Optimization } from '../optimize/optimization.ts';
import { extents, type FeedPlans } from '../optimize/plan-feeds.ts';
import { emptyFolder, lossOf, type Trial, worstError } from '../optimize/run-trial.ts';
import type { StageRunner } from '../optimize/stage-runner.ts';
import type { Candidate } from './auto-candidates.ts';
import { SearchTime } from './search-time.ts';

/** Context of a search. */
export interface AutoContext {
  optimization: Optimization;
  stages: StageRunner;
  feeds: FeedPlans;
  before: StageAnswer<'read'>;
  /** Folder of the result. */
  out: string;
  scratch: string;
}

type Tried = Receipt['candidates'][number];

/** Data that calibration collected. */
interface Observed {
  folder: string;
  answer: StageAnswer<'calibrate'>;
}

/** A candidate with its measurements. */
export interface Measured {
  candidate: Candidate;
  trial: Trial;
  loss: number;
  bytes: number;
  ratio: number | null;
  /** Its timing, if speed is the goal. */
  times: StageAnswer<'time'> | null;
  calibrated: StageAnswer<'calibrate'> | null;
}

type Steps = Pick<Candidate, 'steps' | 'compression'>;

/**
 * Seconds of timing per candidate if speed is the goal. The confirmation repeats the timing before a candidate
 * becomes the best.
 */
const timeSeconds = 1.2;

const confirmSeconds = 3;

/** Applies and measures candidates of `auto`. The folder of the result always contains the best one so far. */
export class CandidateTrials {
  readonly #context: AutoContext;
  readonly maxLoss: number;
  readonly time: SearchTime;
  readonly tried: Tried[] = [];
  readonly notes: string[] = [];
  readonly #observed = new Map<string, Promise<Observed>>();
  #sourceBytes: number | undefined;
  /**
   * Whether a candidate with too large a loss would be smaller or faster. For speed it is assumed, because only
   * candidates that meet the target are timed.
   */
  #wouldGain = false;
  /** The best candidate that meets the target and improves on the model. */
  best: Measured | undefined;
  /** The candidate with the smallest loss. */
  nearest: Measured | undefined;

  constructor(context: AutoContext) {
    this.#context = context;
    const { request, secondsLeft } = context.optimization;
    this.maxLoss = request.max_loss ?? 0.01;
    this.time = new SearchTime(secondsLeft, extents[request.measure].timeSeconds * 1.5);
  }

  /**
   * Build the error of a search without a result.
   *
   * @returns a ModelError that names the nearest candidate
   */
  missed(): ModelError {
    return new ModelError([this.#whyMissed(), ...this.time.notes].join(' '));
  }

  #whyMissed(): string {
    const { nearest, maxLoss } = this;
    if (nearest === undefined)
      return `auto could not apply any method to this model. ${this.notes.join(' ')}`;
    const { candidate, loss, bytes } = nearest;
    const found = `${candidate.name}, with a loss of ${Number(loss.toPrecision(3))} and ${(bytes / 1e6).toFixed(1)} MB`;
    if (loss > maxLoss)
      return `No method meets max_loss ${maxLoss}. The nearest is ${found}. ${this.#wouldGain ? 'Allow a larger max_loss, or give' : 'None of them makes the model smaller at any loss. Give'} a larger calibration set.`;
    const gain = this.#isForLatency
      ? `faster on this processor (${processorText(hardware())}), so the float form is the fastest`
      : 'smaller';
    const advice = this.#wouldGain ? 'Allow a larger max_loss.' : 'A larger max_loss would not help.';
    return `No method within max_loss ${maxLoss} makes the model ${gain}. The nearest is ${found}. ${advice}`;
  }

  /** Run a stage within the time of the search. */
  async #run<K extends StageKind>(name: string, task: TaskOf<K>): Promise<StageAnswer<K>> {
    const { left } = this.time;
    return await this.#context.stages.run<K>(name, task, Number.isFinite(left) ? left : undefined);
  }

  get #isForLatency(): boolean {
    return this.#context.optimization.request.goal === 'latency';
  }

  /** Return the calibration data of a request. Collects it once; a refusal is kept too. */
  async #observe(request: OptimizationRequest): Promise<Observed | null> {
    if (!isCalibrated(request)) return null;
    // `exclude` and `allocation` do not change the data of the other layers, and all blocks need the same data.
    const inBlocks = request.strategy === 'gptq' || request.strategy === 'awq';
    const data = inBlocks ? 'blocks' : { ...request, exclude: [], allocation: null };
    const key = JSON.stringify(data);
    const known = this.#observed.get(key);
    if (known !== undefined) return await known;
    // A failed attempt may leave its folder, so the next one uses another.
    const made = this.#calibrate(request, join(this.#context.scratch, `observed-${this.#observed.size}`));
    this.#observed.set(key, made);
    return await made;
  }

  async #calibrate(request: OptimizationRequest, folder: string): Promise<Observed> {
    const { optimization, feeds } = this.#context;
    const answer = await this.#run<'calibrate'>('calibrate', {
      ...{
        kind: 'calibrate',
        model: optimization.model,
        request: { ...request, exclude: optimization.request.exclude },
      },
      ...{ feed: feeds.calibrate, out: folder },
    });
    return { folder, answer };
  }

  /** Apply steps one after the other. The answer of the last step contains layers, notes and warnings of all steps. */
  async transform({ steps, compression }: Steps, stage: string) {
    const { optimization, scratch } = this.#context;
    let { model } = optimization;
    let result: StageAnswer<'transform'> | undefined;
    let calibrated: StageAnswer<'calibrate'> | null = null;
    let folder = '';
    for (const [index, step] of steps.entries()) {
      const observed = await this.#observe(step);
      calibrated ??= observed?.answer ?? null;
      folder = join(scratch, `candidate-${index}`);
      await emptyFolder(folder, optimization.user);
      const { exclude, keep_metadata } = optimization.request;
      const answer = await this.#run<'transform'>(stage, {
        ...{ kind: 'transform', model, request: { ...step, keep_metadata }, exclude: [...exclude] },
        ...{ observed: observed?.folder ?? null, out: folder, name: optimization.name },
        ...(compression !== undefined && { compression }),
      });
      model = join(folder, answer.files[0] ?? '');
      const { layers = [], notes = [], warnings = [] } = result ?? {};
      result = {
        ...answer,
        layers: [...layers, ...answer.layers],
        notes: [...notes, ...answer.notes],
        warnings: [...warnings, ...answer.warnings],
      };
    }
    if (result === undefined) throw new Error('a candidate has no step');
    return { path: model, folder, transform: result, calibrated };
  }

  /**
   * Compare a candidate with the model on all samples of a feed. With a limit, stop as soon as the samples show
   * that the candidate exceeds it.
   */
  async compare(
    after: string,
    feed: FeedPlans['compare'],
    stage: string,
    limit?: TaskOf<'compare'>['limit'],
  ): Promise<StageAnswer<'compare'>> {
    const { optimization } = this.#context;
    const task = { kind: 'compare', before: optimization.model, after, feed } as const;
    return await this.#run<'compare'>(stage, { ...task, ...(limit !== undefined && { limit }) });
  }

  /**
   * Measure a candidate. Keep its result if it is the best so far. Return undefined if it cannot be applied, or not
   * in time.
   */
  async try(candidate: Candidate): Promise<Measured | undefined> {
    const { time } = this;
    if (!time.isOver) return await time.measured(() => this.#try(candidate));
    time.untried.push(candidate.name);
    return undefined;
  }

  async #try(candidate: Candidate): Promise<Measured | undefined> {
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
      if (this.time.left === 0) this.time.untried.push(candidate.name);
      else this.notes.push(`${candidate.name} was not possible: ${error.message}`);
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
    const { optimization, feeds } = this.#context;
    const task = { kind: 'time', before: optimization.model, after, seconds } as const;
    return await this.#run<'time'>('candidates', { ...task, feed: feeds.compare });
  }

  /** Time a candidate. If it seems the fastest, time it again for longer, to exclude chance. */
  async #timeOf(after: string): Promise<StageAnswer<'time'>> {
    const first = await this.#time(after, timeSeconds);
    const least = this.best?.ratio ?? 1;
    const seemsBest = isFaster(first.latency) && (first.latency?.ratio ?? 1) < least;
    return seemsBest ? await this.#time(after, confirmSeconds) : first;
  }

  /** The metric that the goal minimizes; infinite if the candidate was not timed. */
  #measureOf({ bytes, ratio }: Pick<Measured, 'bytes' | 'ratio'>): number {
    return this.#isForLatency ? (ratio ?? Number.POSITIVE_INFINITY) : bytes;
  }

  async #bytesBefore(): Promise<number> {
    this.#sourceBytes ??= await bytesOf('', this.#context.before.files);
    return this.#sourceBytes;
  }

  async #isBetter(measured: Measured): Promise<boolean> {
    const { best } = this;
    // A candidate that may be slower than the model never wins for its speed.
    if (this.#isForLatency && !isFaster(measured.times?.latency ?? null)) return false;
    const own = this.#measureOf(measured);
    if (best === undefined) return own < (this.#isForLatency ? 1 : await this.#bytesBefore());
    const least = this.#measureOf(best);
    return own < least || (own === least && measured.loss < best.loss);
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

/** Whether the whole interval of the latency ratio is below 1. */
const isFaster = (latency: Receipt['latency']): boolean => latency !== null && latency.ratio_interval[1] < 1;
