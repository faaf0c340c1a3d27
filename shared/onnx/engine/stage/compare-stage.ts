import { runSample } from '../../measure/session/run-sample.ts';
import { dataUsed, samplesOf, setNotes } from '../../measure/session/samples.ts';
import { runtimeVersion, type Session } from '../../measure/session/session.ts';
import { SessionPool } from '../../measure/session/session-pool.ts';
import type { Sample } from '../../measure/session/set-samples.ts';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { TaskOf } from '../../measure/session/stage-task.ts';
import { Agreement } from '../../measure/verify/agreement.ts';
import {
  addScores,
  type LabelScore,
  labelsMet,
  labelsWarning,
  noLabels,
} from '../../measure/verify/label-score.ts';
import { OutputDifference } from '../../measure/verify/output-error.ts';
import { pairedInterval } from '../../measure/verify/paired-interval.ts';
import { ModelError } from '../../model/model-error.ts';
import { fewestChoices, uselessError } from '../../receipt/receipt.ts';
import type { StageReporter } from '../process/stage-reporter.ts';
import { FurtherOutputs, type Outputs, ReferenceCache, type ReferenceOutputs } from './reference-outputs.ts';

/** Compares a result's outputs with the model's, sample by sample. */
class Comparison {
  readonly #reference: ReferenceOutputs;
  readonly #limit: TaskOf<'compare'>['limit'];
  readonly #feed: TaskOf<'compare'>['feed'];
  readonly differences: readonly OutputDifference[];
  readonly agreement: Agreement;
  /** Number of samples that ran, and of those compared. */
  samples = 0;
  compared = 0;
  /** Correct labels of the model on these samples, and those of the result. */
  before: LabelScore = noLabels;
  after: LabelScore = noLabels;
  /** Per sample: how many more labels the result got right than the model, and the number of labels. */
  readonly pairs: { more: number; of: number }[] = [];

  constructor({ feed, limit }: TaskOf<'compare'>, reference: ReferenceOutputs) {
    this.#reference = reference;
    this.#limit = limit;
    this.#feed = feed;
    const names = [...(reference.kept[0]?.keys() ?? []), ...reference.otherOutputs];
    this.differences = names.map((name) => new OutputDifference(name));
    const all = reference.kept.length === reference.compared ? reference.kept : undefined;
    this.agreement = new Agreement(reference.reading, reference.kept[0], all);
  }

  /** Runs a sample. `was` holds the model's outputs; it is undefined if only labels are counted. */
  async run(session: Session, sample: Sample, was: Outputs | undefined): Promise<void> {
    const is = this.#named(await runSample(session, this.#feed, sample));
    const { reading, met } = this.#reference;
    if (sample.labels !== undefined && reading !== undefined) {
      const score = labelsMet(is, sample.labels, reading);
      const metBefore = met[this.samples] ?? 0;
      this.pairs.push({ more: score.met - metBefore, of: score.of });
      this.before = addScores(this.before, { ...score, met: metBefore });
      this.after = addScores(this.after, score);
    }
    this.samples += 1;
    if (was === undefined) return;
    this.compared += 1;
    for (const difference of this.differences)
      difference.add(was.get(difference.name), is.get(difference.name));
    this.agreement.add(was, is, sample.feeds.get('attention_mask'));
  }

  /** Outputs under the names that the model gives them. If the result uses other names, the order decides. */
  #named(outputs: Outputs): Outputs {
    const names = [...(this.#reference.kept[0]?.keys() ?? [])];
    if (names.length !== outputs.size || names.some((name) => outputs.has(name))) return outputs;
    return new Map([...outputs.values()].map((value, at) => [names[at] ?? '', value]));
  }

  /** Whether the samples so far already exceed the limit, regardless of the remaining samples. */
  get isHopeless(): boolean {
    if (this.#limit === undefined) return false;
    const { most, of } = this.#limit;
    const { score, squaredNorms } = this.#reference;
    if (of === 'loss' && score.of > 0) return (this.before.met - this.after.met) / score.of > most;
    // Few choices of many may all differ by chance.
    const { choices, different } = this.agreement;
    const expected = (choices / this.compared) * this.#reference.compared;
    // Where the error of an output may be that large, it is the loss.
    const isByAgreement =
      of === 'loss' && most < uselessError && expected >= fewestChoices && this.#feed.source !== 'synthetic';
    if (isByAgreement && choices >= fewestChoices)
      if (different / expected > most || this.agreement.losesMore(most)) return true;
    return this.differences.some((difference) =>
      difference.exceeds(isByAgreement ? uselessError : most, squaredNorms.get(difference.name) ?? 0),
    );
  }
}

/** Run the result on the samples that the model ran on. */
async function runResult(
  task: TaskOf<'compare'>,
  reference: ReferenceOutputs,
  sessions: SessionPool,
  progress: (fraction: number) => void,
): Promise<Comparison> {
  const comparison = new Comparison(task, reference);
  const { feed, after_inputs: inputs = feed.inputs } = task;
  const samples = samplesOf({ ...feed, inputs });
  const further = new FurtherOutputs(task, sessions, reference);
  /** Runs the next samples. A sample without the model's outputs is run only for its labels. */
  const runPart = async (session: Session, part: readonly (Outputs | undefined)[]): Promise<void> => {
    for (const was of part) {
      const { value: sample } = await samples.next();
      if (sample === undefined) throw new ModelError('The data set has changed during the work.');
      await comparison.run(session, sample, was);
      progress(comparison.samples / reference.samples);
      if (comparison.isHopeless) return;
    }
  };
  const use = (part: readonly (Outputs | undefined)[]) =>
    sessions.use(task.after, 'result', (session) => runPart(session, part));
  try {
    let part = reference.kept;
    do {
      const own = part;
      await use(own);
      if (comparison.isHopeless) return comparison;
      part = await further.from(comparison.samples);
    } while (part.length > 0);
    const rest = reference.samples - comparison.samples;
    if (rest > 0) await use(Array.from({ length: rest }, () => undefined));
    return comparison;
  } finally {
    await samples.return();
    await further.end();
  }
}

/**
 * Run the model and then its result on the same samples, and compare their outputs. Stop early if the first
 * samples exceed a limit so far that the remaining samples cannot compensate.
 */
export async function compareStage(
  task: TaskOf<'compare'>,
  { progress }: Pick<StageReporter, 'progress'>,
  sessions = new SessionPool(),
  references = new ReferenceCache(),
): Promise<StageAnswer<'compare'>> {
  const reference = await references.outputs(task, sessions, (part) => progress(part / 2));
  const comparison = await runResult(task, reference, sessions, (part) => progress(0.5 + part / 2));
  const { differences, samples, before, after } = comparison;
  const { reading, first } = reference;
  const { source } = task.feed;
  return {
    outputs: differences.map((difference) => difference.result()),
    accuracy:
      reading === undefined || before.of === 0
        ? null
        : {
            ...{ before: before.met / before.of, after: after.met / after.of, samples },
            difference_interval: pairedInterval(comparison.pairs),
            output: reading.output,
          },
    agreement: comparison.agreement.result(),
    data: dataUsed(source, comparison.compared, first),
    notes: setNotes(source, first),
    warnings: [
      ...differences.map((difference) => difference.warning()),
      reading && labelsWarning(before, reading),
    ].filter((one) => one !== undefined),
    runtime: await runtimeVersion(),
  };
}
