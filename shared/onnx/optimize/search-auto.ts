import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ModelError } from '../model-error.ts';
import type { Receipt } from '../receipt/receipt.ts';
import type { StageAnswer } from '../stage-task/stage-answers.ts';
import { isCalibrated } from '../strategies/optimization-request.ts';
import type { QuantizeRequest } from '../strategies/quantize-request.ts';
import { type Candidate, candidatesOf, mixedWith } from './auto-candidates.ts';
import { lossOf, worstError } from './loss-of.ts';
import type { Optimization } from './optimization.ts';
import type { FeedPlans } from './plan-feeds.ts';
import { emptyFolder, type Trial } from './run-trial.ts';
import type { StageLog } from './stage-log.ts';

type Tried = Receipt['candidates'][number];

/** What the search works with. */
export interface AutoContext {
  optimization: Optimization & { request: QuantizeRequest };
  stages: StageLog;
  feeds: FeedPlans;
  before: StageAnswer<'read'>;
  /** Folder of the result. */
  out: string;
  scratch: string;
}

export interface AutoResult {
  final: Trial;
  tried: Tried[];
  notes: string[];
  /** What the chosen method was calibrated on. */
  calibrated: StageAnswer<'calibrate'> | null;
}

/** Layers whose sensitivity is measured, those with the largest change of their weight first; samples for each. */
const measuredMost = 40;
const sampledMost = 8;
/** Seconds that a candidate is timed for, where speed is the goal. */
const timeSeconds = 1.2;

/** A candidate that was measured. */
interface Measured {
  candidate: Candidate;
  trial: Trial;
  loss: number;
  bytes: number;
  ratio: number | null;
  calibrated: StageAnswer<'calibrate'> | null;
}

/** The search for the smallest or fastest result within a loss. */
export class AutoSearch {
  readonly #context: AutoContext;
  readonly #maxLoss: number;
  readonly #tried: Tried[] = [];
  readonly #notes: string[] = [];
  readonly #observed = new Map<string, { folder: string; answer: StageAnswer<'calibrate'> }>();
  /** Layers by sensitivity, measured once: what is sensitive in one method is so in the others. */
  #ranked: string[] = [];
  #best: Measured | undefined;
  #nearest: Measured | undefined;

  constructor(context: AutoContext) {
    this.#context = context;
    this.#maxLoss = context.optimization.request.max_loss ?? 0.01;
  }

  /**
   * Tries every method; where a small one misses the target, also with its most sensitive layers in 8 bits. Leaves the
   * best that holds the target as the result.
   *
   * @throws ModelError naming the nearest where none holds it
   */
  async run(): Promise<AutoResult> {
    const { optimization, before } = this.#context;
    const { request, calibration } = optimization;
    const hasCalibration = calibration !== undefined;
    if (!hasCalibration)
      this.#notes.push('auto tries more and better methods with a calibration set: gptq, smoothing, static.');
    for (const candidate of candidatesOf({ request, hasCalibration, operators: before.operators })) {
      const measured = await this.#try(candidate);
      if (measured !== undefined && measured.loss > this.#maxLoss && this.#isWorthMixing(measured))
        await this.#mix(measured);
    }
    const best = this.#best;
    if (best === undefined) throw this.#missed();
    return {
      final: best.trial,
      tried: withFront(this.#tried, best.candidate.name),
      notes: this.#notes,
      calibrated: best.calibrated,
    };
  }

  #missed(): ModelError {
    const nearest = this.#nearest;
    if (nearest === undefined)
      return new ModelError(`auto could apply no method to this model. ${this.#notes.join(' ')}`);
    return new ModelError(
      `No method loses at most ${this.#maxLoss}: the nearest, ${nearest.candidate.name}, loses ${Number(nearest.loss.toPrecision(3))} at ${(nearest.bytes / 1e6).toFixed(1)} MB. Allow a larger max_loss, or give a calibration set of more samples.`,
    );
  }

  /** Whether a candidate that misses the target could still become the best one. */
  #isWorthMixing({ bytes, candidate }: Measured): boolean {
    const isUniform = candidate.steps.length === 1 && candidate.steps[0]?.strategy !== 'float16';
    return isUniform && Number.isFinite(bytes) && (this.#best === undefined || bytes < this.#best.bytes);
  }

  /** Finds the fewest of the most sensitive layers that must have 8 bits, by halving. */
  async #mix({ candidate, trial }: Measured): Promise<void> {
    if (this.#ranked.length === 0) this.#ranked = await this.#sensitivity(candidate, trial);
    const own = new Set(trial.transform.layers.map(({ layer }) => layer));
    const ranked = this.#ranked.filter((layer) => own.has(layer));
    let [tooFew, enough] = [0, ranked.length];
    while (enough - tooFew > 1) {
      const count = Math.floor((tooFew + enough) / 2);
      const measured = await this.#try(mixedWith(candidate, ranked.slice(0, count), ranked.length));
      if (measured !== undefined && measured.loss <= this.#maxLoss) enough = count;
      else tooFew = count;
    }
  }

  /** Layers by the error that each causes alone, the largest first. */
  async #sensitivity({ steps }: Candidate, { transform }: Trial): Promise<string[]> {
    const { feeds } = this.#context;
    const [step] = steps;
    if (step === undefined) return [];
    const layers = [...new Set(transform.layers.map(({ layer }) => layer))];
    const weightError = new Map(transform.layers.map(({ layer, error }) => [layer, error ?? 0]));
    const byWeight = layers.toSorted((a, b) => (weightError.get(b) ?? 0) - (weightError.get(a) ?? 0));
    const feed = { ...feeds.compare, samples: Math.min(feeds.compare.samples, sampledMost) };
    const measured: { layer: string; error: number }[] = [];
    for (const layer of byWeight.slice(0, measuredMost)) {
      const others = layers.filter((other) => other !== layer);
      const alone = await this.#transform(
        [{ ...step, exclude: [...step.exclude, ...others] }],
        'sensitivity',
      );
      const compare = await this.#compare(alone.path, feed, 'sensitivity');
      measured.push({ layer, error: worstError(compare).error });
    }
    measured.sort((a, b) => b.error - a.error);
    return [...measured.map(({ layer }) => layer), ...byWeight.slice(measuredMost)];
  }

  async #observe(
    request: QuantizeRequest,
  ): Promise<{ folder: string; answer: StageAnswer<'calibrate'> } | null> {
    if (!isCalibrated(request)) return null;
    const { stages, optimization, feeds, scratch } = this.#context;
    // What is excluded does not change what is observed of the others.
    const key = JSON.stringify({ ...request, exclude: [] });
    const known = this.#observed.get(key);
    if (known !== undefined) return known;
    const folder = join(scratch, `observed-${this.#observed.size}`);
    const answer = await stages.run<'calibrate'>('calibrate', {
      ...{
        kind: 'calibrate',
        model: optimization.model,
        request: { ...request, exclude: optimization.request.exclude },
      },
      ...{ feed: feeds.calibrate, out: folder },
    });
    const made = { folder, answer };
    this.#observed.set(key, made);
    return made;
  }

  /** Applies steps one after the other; the last one's answer has the layers of all. */
  async #transform(steps: readonly QuantizeRequest[], stage: string) {
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
      });
      model = join(folder, answer.files[0] ?? '');
      result = { ...answer, layers: [...(result?.layers ?? []), ...answer.layers] };
    }
    if (result === undefined) throw new Error('a candidate has no step');
    return { path: model, folder, transform: result, calibrated };
  }

  async #compare(after: string, feed: FeedPlans['compare'], stage: string): Promise<StageAnswer<'compare'>> {
    const { stages, optimization } = this.#context;
    return await stages.run<'compare'>(stage, { kind: 'compare', before: optimization.model, after, feed });
  }

  /** Measures a candidate, and keeps its result where it is the best so far. Undefined where it cannot be applied. */
  async #try(candidate: Candidate): Promise<Measured | undefined> {
    const { optimization, feeds, out } = this.#context;
    const { say, request } = optimization;
    let measured: Measured;
    let folder: string;
    try {
      const made = await this.#transform(candidate.steps, 'candidates');
      folder = made.folder;
      const compare = await this.#compare(made.path, feeds.compare, 'candidates');
      const loss = lossOf(compare);
      const bytes = await bytesOf(folder, made.transform.files);
      const isTimed = request.goal === 'latency' && loss <= this.#maxLoss;
      const trial = { excluded: [], transform: made.transform, compare };
      const ratio = isTimed ? await this.#time(made.path) : null;
      measured = { candidate, trial, loss, bytes, ratio, calibrated: made.calibrated };
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      this.#notes.push(`${candidate.name} was not possible: ${error.message}`);
      return undefined;
    }
    const { loss, bytes, ratio } = measured;
    say(`${candidate.name}: loses ${Number(loss.toPrecision(3))} at ${(bytes / 1e6).toFixed(1)} MB.`);
    this.#note(measured);
    if (this.#nearest === undefined || loss < this.#nearest.loss) this.#nearest = measured;
    if (loss > this.#maxLoss || !this.#isBetter({ bytes, ratio, loss })) return measured;
    this.#best = measured;
    await rm(out, { recursive: true, force: true });
    await rename(folder, out);
    return measured;
  }

  async #time(after: string): Promise<number | null> {
    const { stages, optimization, feeds } = this.#context;
    const task = { kind: 'time', before: optimization.model, after, seconds: timeSeconds } as const;
    const { latency } = await stages.run<'time'>('candidates', { ...task, feed: feeds.compare });
    return latency?.ratio ?? null;
  }

  #isBetter(one: Pick<Measured, 'bytes' | 'ratio' | 'loss'>): boolean {
    const best = this.#best;
    if (best === undefined) return true;
    const measure = ({ bytes, ratio }: Pick<Measured, 'bytes' | 'ratio'>): number =>
      this.#context.optimization.request.goal === 'latency' ? (ratio ?? Number.POSITIVE_INFINITY) : bytes;
    return measure(one) < measure(best) || (measure(one) === measure(best) && one.loss < best.loss);
  }

  #note({ candidate, trial, loss, bytes, ratio }: Measured): void {
    const { error } = worstError(trial.compare);
    this.#tried.push({
      name: candidate.name,
      steps: candidate.steps.map((step) => ({ ...step })),
      file_bytes: bytes,
      loss: Number.isFinite(loss) ? loss : null,
      error: Number.isFinite(error) ? error : null,
      accuracy: trial.compare?.accuracy?.after ?? null,
      latency_ratio: ratio,
      holds: loss <= this.#maxLoss,
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

/** Marks what no other candidate beats in both size and loss, and what was chosen; the smallest first. */
function withFront(tried: readonly Tried[], chosen: string): Tried[] {
  const lossOf = ({ loss }: Tried): number => loss ?? Number.POSITIVE_INFINITY;
  const beats = (a: Tried, b: Tried): boolean =>
    a.file_bytes <= b.file_bytes &&
    lossOf(a) <= lossOf(b) &&
    (a.file_bytes < b.file_bytes || lossOf(a) < lossOf(b));
  return tried
    .map((one) => ({
      ...one,
      is_on_front: one.loss !== null && !tried.some((other) => beats(other, one)),
      is_chosen: one.name === chosen,
    }))
    .sort((a, b) => a.file_bytes - b.file_bytes);
}
