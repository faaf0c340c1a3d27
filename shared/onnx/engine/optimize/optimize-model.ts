import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { keptSessionBytes } from '../../measure/session/session-pool.ts';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { Feed, TaskOf } from '../../measure/session/stage-task.ts';
import { ModelError } from '../../model/model-error.ts';
import {
  isCalibrated,
  looksForOverflow,
  type OptimizationRequest,
} from '../../strategies/optimization-request.ts';
import { searchAuto } from '../auto/search-auto.ts';
import { SearchTime } from '../auto/search-time.ts';
import { assembleReceipt } from './assemble-receipt.ts';
import { smoothedByDefault } from './keep-inputs-float.ts';
import { meetMaxError } from './meet-max-error.ts';
import type { Optimization, Optimized } from './optimization.ts';
import { boundsOf, extents, type FeedPlans, fitInMemory, planFeeds } from './plan-feeds.ts';
import { planRun, unfed } from './plan-run.ts';
import { emptyFolder, requireSound, type TrialContext, worstError } from './run-trial.ts';
import { spendBits } from './spend-bits.ts';
import { StageRunner } from './stage-runner.ts';

export type { Optimization, Optimized } from './optimization.ts';

/** Larger model files get a new process for each stage, so no process holds the bytes of an earlier one. */
const maxKept = 2 ** 29;

/** Number of samples for comparing a model with its upgraded opset, and the error that rounding may cause. */
const raisedSamples = 4;
const raisedError = 1e-4;

/** Most samples on which a result is run that is not compared. */
const triedSamples = 32;

const untimed = { latency: null, latency_batch: null };

/** Return the mean bits of a weight that a request allows; null if it does not say. */
const meanBitsOf = (request: OptimizationRequest): number | null =>
  request.operation === 'quantize' ? request.mean_bits : null;

/** One optimization under way. */
class OptimizationRun {
  optimization: Optimization;
  readonly stages: StageRunner;
  readonly #bounds;
  readonly #scratch: string;
  readonly #out: string;

  constructor(optimization: Optimization) {
    const { folder, stageCommand, user, sandbox, limits, say, signal } = optimization;
    this.optimization = optimization;
    this.#bounds = boundsOf(limits);
    this.#scratch = join(folder, 'work');
    this.#out = join(folder, 'result');
    const options = {
      ...{ command: stageCommand, user, folder: this.#scratch, sandbox },
      ...{ bounds: this.#bounds, say, signal },
    };
    this.stages = new StageRunner(
      options,
      (stage, fraction, bytes) => optimization.progress(stage, fraction, bytes),
      {
        areKept: (statSync(optimization.model, { throwIfNoEntry: false })?.size ?? 0) <= maxKept,
        // `auto` drops a candidate that crashes.
        fallsBack: optimization.request.strategy !== 'auto',
        refusesResults: true,
      },
    );
  }

  /** Read the model for the request, or its result. */
  async #read(model: string, of: 'model' | 'result'): Promise<StageAnswer<'read'>> {
    const { shapes, request } = this.optimization;
    const given = [...(shapes ?? [])].map(([input, dims]): [string, (number | null)[]] => [input, [...dims]]);
    const task = { kind: 'read', model, shapes: Object.fromEntries(given) } as const;
    return of === 'model'
      ? await this.stages.run<'read'>('read', { ...task, request: { ...request } })
      : await this.stages.run<'read'>('verify', task);
  }

  /** Collect the calibration data that the method needs. Return its folder and the data used. */
  async #calibrate({ calibrate }: FeedPlans, request: OptimizationRequest, name: string, canRun = true) {
    const { model, say } = this.optimization;
    const isLook = canRun && calibrate.set !== null && looksForOverflow(request);
    if (!isCalibrated(request) && !isLook) return { observed: null, calibrated: null };
    if (calibrate.set === null)
      say('There is no calibration set, so the model is calibrated on generated inputs.');
    const observed = join(this.#scratch, name);
    const task = {
      kind: 'calibrate',
      model,
      request: { ...request },
      feed: calibrate,
      out: observed,
    } as const;
    return { observed, calibrated: await this.stages.run<'calibrate'>('calibrate', task) };
  }

  /** Whether the result can be opened: it fits into memory, and ONNX Runtime for JavaScript has the types of its inputs. */
  #isOpened({ inputs }: StageAnswer<'read'>, paths: readonly string[]): boolean {
    const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
    return inputs.every(({ type }) => type !== 'bfloat16') && fitInMemory(this.#bounds, bytes);
  }

  async #time(after: string, feeds: FeedPlans, weights: readonly number[]) {
    const { model, request } = this.optimization;
    const { timeSeconds, wholeBytes } = extents[request.measure];
    if (timeSeconds === 0) return { times: untimed, why: undefined };
    if (weights.some((bytes) => bytes > wholeBytes) || !fitInMemory(this.#bounds, ...weights))
      return {
        times: untimed,
        why: 'both models together are too large to run on this machine',
      };
    const task = {
      ...({ kind: 'time', before: model, after } as const),
      ...{ feed: feeds.compare, seconds: timeSeconds },
    };
    return { times: await this.stages.run<'time'>('time', task), why: undefined };
  }

  async #check(after: string, layers: readonly string[]): Promise<StageAnswer<'check'>> {
    const { model, request } = this.optimization;
    const work = this.#scratch;
    const task: TaskOf<'check'> = {
      kind: 'check',
      before: model,
      after,
      seed: request.seed,
      layers: [...layers],
      work,
    };
    return await this.stages.run<'check'>('check', task);
  }

  /**
   * Require that a result that was not compared opens, and with a feed that it runs and answers with numbers where
   * the model does.
   */
  async #try(result: string, feed: Feed | undefined): Promise<void> {
    const { optimization, stages } = this;
    const before = optimization.model;
    const few = feed && { ...feed, samples: Math.min(feed.samples, triedSamples) };
    const opened = await stages.run<'open'>('verify', {
      ...{ kind: 'open', model: result, of: 'result' },
      ...(few !== undefined && { trial: { before, feed: few } }),
    });
    if (few === undefined || opened.is_finite !== false) return;
    // Only a comparison tells whether the model has numbers there.
    const task = { kind: 'compare', before, after: result, feed: few } as const;
    requireSound(optimization.request, await stages.run<'compare'>('verify', task));
  }

  /** Apply one strategy. Exclude layers if `max_error` requires it. */
  async #transform(
    { operators }: StageAnswer<'read'>,
    feeds: FeedPlans,
    { canRun, isCompared }: { canRun: boolean; isCompared: boolean },
  ) {
    const { optimization, stages } = this;
    const { request } = optimization;
    const { observed, calibrated } = await this.#calibrate(feeds, request, 'observed', canRun);
    const feed = isCompared ? feeds.compare : null;
    // All samples must meet a bound.
    const seconds = request.max_error === null ? extents[request.measure].compareSeconds : undefined;
    const bits = meanBitsOf(request);
    // Only a search has something to give up. A single trial takes the time that it needs.
    const isSearch = request.max_error !== null || bits !== null;
    const time = new SearchTime(
      isSearch ? optimization.secondsLeft : undefined,
      extents[request.measure].timeSeconds * 1.5,
    );
    const context: TrialContext = {
      ...{ optimization, stages, time, out: this.#out, observed, operators, feed, seconds },
      observe: async (other) => (await this.#calibrate(feeds, other, 'observed-anew')).observed,
    };
    const eightBits = bits === null ? undefined : await spendBits(context, bits);
    const accepted = await meetMaxError({ ...context, eightBits }, request.max_error);
    if (eightBits !== undefined)
      accepted.notes.push(
        `mean_bits ${bits}: the blocks of ${eightBits.length} layers have 8 bits${eightBits.length === 0 ? '' : ` (${eightBits.join(', ')})`}.`,
        ...(request.max_error === null ? time.notes : []),
      );
    return {
      accepted,
      calibrated,
      tried: [],
      searched: null,
    };
  }

  /** Search for the best strategy and apply it. */
  async #search(before: StageAnswer<'read'>, feeds: FeedPlans) {
    const { optimization, stages } = this;
    const place = { out: this.#out, scratch: this.#scratch };
    const { final, tried, notes, calibrated, times } = await searchAuto({
      ...{ optimization, stages, before, feeds },
      ...place,
    });
    return { accepted: { final, excluded: [], notes, warnings: [] }, calibrated, tried, searched: times };
  }

  /**
   * Upgrade the opset of the model if the method requires a later one. All later stages use the upgraded model,
   * which must give the same outputs as the original.
   */
  async #raise({ raise_to, files }: StageAnswer<'read'>, feed: Feed | undefined): Promise<void> {
    if (raise_to === null) return;
    const { optimization, stages } = this;
    const out = join(this.#scratch, 'raised');
    await emptyFolder(out, optimization.user);
    const raised = await stages.run<'raise'>('raise', {
      ...{
        kind: 'raise',
        model: optimization.model,
        to: raise_to,
        out,
        name: basename(files[0] ?? 'model.onnx'),
      },
    });
    const model = join(out, raised.files[0] ?? '');
    if (feed !== undefined) {
      const few = { ...feed, samples: raisedSamples };
      const task = { kind: 'compare', before: optimization.model, after: model, feed: few } as const;
      const { error } = worstError(await stages.run<'compare'>('raise', task));
      if (error > raisedError)
        throw new ModelError(
          `With opset ${raise_to}, the model would have different outputs (relative error ${Number(error.toPrecision(3))}). Export it again with that opset.`,
        );
    }
    this.optimization = { ...optimization, model };
  }

  /** Smooth the activations of a model that can be run, where its request leaves that open. */
  #smoothByDefault(before: StageAnswer<'read'>): void {
    const { request, calibration } = this.optimization;
    const isFed = unfed(planFeeds(this.optimization, before.inputs).compare) === undefined;
    if (!isFed || !fitInMemory(this.#bounds, before.weight_bytes)) return;
    this.optimization = {
      ...this.optimization,
      request: smoothedByDefault(request, calibration !== undefined, before),
    };
  }

  async run(): Promise<Optimized> {
    const { stages } = this;
    await emptyFolder(this.#scratch, this.optimization.user);
    // A result that is not compared is at least opened.
    stages.prepareSession();
    const before = await this.#read(this.optimization.model, 'model');
    this.#smoothByDefault(before);
    const plan = await planRun(this.optimization, stages, before, this.#bounds);
    const { kind, feeds } = plan;
    const { request } = this.optimization;
    const [isRun, isCompared] = [kind === 'compare' || kind === 'try', kind === 'compare'];
    await this.#raise(before, isRun ? feeds.compare : undefined);
    if (isCompared && before.raise_to === null && before.weight_bytes <= keptSessionBytes)
      stages.prepareModel(this.optimization.model);
    const { accepted, calibrated, tried, searched } =
      request.strategy === 'auto'
        ? await this.#search(before, feeds)
        : await this.#transform(before, feeds, { canRun: isRun, isCompared });
    requireSound(request, accepted.final.compare);
    const { files, layers } = accepted.final.transform;
    const paths = files.map((name) => join(this.#out, name));
    const [result = ''] = paths;
    const reading = this.#read(result, 'result');
    const trying =
      accepted.final.compare === null && this.#isOpened(before, paths)
        ? this.#try(result, isRun ? feeds.compare : undefined)
        : null;
    // Its fault is thrown below, unless the file itself has one.
    trying?.catch(() => {});
    // Compressing whole files takes longest, so it runs in parallel. Samples are compressed afterwards in the same
    // process.
    if (request.measure !== 'full') await reading;
    const [after, size, check] = await Promise.all([
      reading,
      stages.run<'size'>('size', {
        kind: 'size',
        before: before.files,
        after: paths,
        measure: request.measure,
      }),
      kind === 'check-layers'
        ? this.#check(
            result,
            layers.map(({ layer }) => layer),
          )
        : null,
      trying,
    ]);
    const weights = [before.weight_bytes, after.weight_bytes];
    // `auto` already timed a result chosen for speed, for longer than a receipt does.
    const { times, why } =
      searched !== null
        ? { times: searched, why: undefined }
        : kind === 'warn'
          ? { times: untimed, why: 'the model runs on no generated input' }
          : await this.#time(result, feeds, weights);
    const receipt = assembleReceipt({
      optimization: this.optimization,
      ...{ before, after, size, accepted, calibrated, times, tried, check },
      why_untimed: why,
      notes: plan.notes,
      warnings: [
        ...(kind === 'warn' ? [`NOT COMPARED WITH THE MODEL, because ${plan.why}`] : []),
        ...stages.warnings,
      ],
      stages: stages.records,
    });
    return { receipt, files };
  }
}

/**
 * Prune or quantize a model: read and check it, observe ranges, transform it, run both models in ONNX Runtime,
 * compare them, and measure. Every stage runs in its own process with a memory and time limit, so no model can
 * harm this process. The result is written to `result/` within the folder.
 *
 * @throws ModelError for an invalid model, set or request; the signal's reason when aborted
 */
export async function optimizeModel(optimization: Optimization): Promise<Optimized> {
  const work = new OptimizationRun(optimization);
  try {
    return await work.run();
  } finally {
    await work.stages.end();
  }
}
