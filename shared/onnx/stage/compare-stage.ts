import { ModelError } from '../model-error.ts';
import { requireRequestedShapes } from '../session/require-requested-shapes.ts';
import { runSample } from '../session/run-sample.ts';
import { dataUsed, samplesOf, setNotes } from '../session/samples.ts';
import { runtimeVersion, type Session, type SessionOf } from '../session/session.ts';
import { SessionPool } from '../session/session-pool.ts';
import type { Sample } from '../session/set-samples.ts';
import type { StageAnswer } from '../stage-task/stage-answers.ts';
import type { TaskOf } from '../stage-task/stage-task.ts';
import { addScores, labelReading, labelsMet, labelsWarning, noLabels } from '../verify/label-score.ts';
import { OutputDifference } from '../verify/output-error.ts';
import type { StageReporter } from './stage-reporter.ts';

/** Most samples whose outputs are compared, and most bytes that those of the source may take meanwhile. */
const comparedMost = 64;
const keptMost = 256 * 2 ** 20;

type Outputs = Awaited<ReturnType<Session['run']>>;
type LabelScore = ReturnType<typeof labelsMet>;
type Reading = NonNullable<ReturnType<typeof labelReading>>;

interface Run {
  /** Outputs of the first samples. */
  kept: Outputs[];
  first: Sample | undefined;
  samples: number;
  /** Names of outputs that are no tensors. */
  otherOutputs: readonly string[];
  score: LabelScore;
  reading: Reading | undefined;
}

const bytesOf = (outputs: Outputs): number =>
  [...outputs.values()].reduce(
    (sum, value) => sum + (value.type === 'other' ? 0 : value.values.byteLength),
    0,
  );

/** Refuses outputs of the model that are not as they were asked for, where a set decides. */
function requireAskedOutputs({ feed }: TaskOf<'compare'>, outputs: Outputs): void {
  const shapes = [...outputs].flatMap(([name, value]) =>
    value.type === 'other' ? [] : [[name, value.dims] as const],
  );
  requireRequestedShapes('outputs', feed.asked, shapes);
}

/** Runs one model over the samples; those beyond what is compared only where they have labels. */
async function runAll(
  session: Session,
  of: SessionOf,
  task: TaskOf<'compare'>,
  earlier: Run | undefined,
  progress: (fraction: number) => void,
): Promise<Run> {
  if (session.outputNames.length === 0) throw new ModelError(`No output of the ${of} is a tensor.`);
  const run: Run = {
    kept: [],
    first: undefined,
    samples: 0,
    otherOutputs: session.otherOutputs,
    score: noLabels,
    reading: earlier?.reading,
  };
  let room = keptMost;
  const started = performance.now();
  const isLate = (): boolean =>
    task.seconds !== undefined && performance.now() - started > task.seconds * 1000;
  const most = earlier?.kept.length ?? comparedMost;
  // Both models are run over the same samples.
  const samplesMost = earlier?.samples ?? Number.POSITIVE_INFINITY;
  for await (const sample of samplesOf(task.feed)) {
    const isKept = run.kept.length < most && room > 0;
    if (!isKept && sample.labels === undefined) break;
    if (run.samples >= samplesMost || (earlier === undefined && run.samples > 0 && isLate())) break;
    const outputs = await runSample(session, task.feed, sample);
    if (run.first === undefined && earlier === undefined) requireAskedOutputs(task, outputs);
    run.first ??= sample;
    run.samples += 1;
    if (isKept) {
      run.kept.push(outputs);
      room -= bytesOf(outputs);
    }
    if (sample.labels !== undefined) {
      run.reading ??= labelReading(outputs, sample.labels);
      if (run.reading === undefined) {
        throw new ModelError(`No output of the model fits labels of [${sample.labels.dims.join(', ')}].`);
      }
      run.score = addScores(run.score, labelsMet(outputs, sample.labels, run.reading));
    }
    progress(run.samples / task.feed.samples);
  }
  return run;
}

/** Runs the model and its result over the same samples, one after the other, and compares what comes out. */
export async function compareStage(
  task: TaskOf<'compare'>,
  { progress }: Pick<StageReporter, 'progress'>,
  sessions = new SessionPool(),
): Promise<StageAnswer<'compare'>> {
  const before = await sessions.use(task.before, 'model', (session) =>
    runAll(session, 'model', task, undefined, (part) => progress(part / 2)),
  );
  const after = await sessions.use(task.after, 'result', (session) =>
    runAll(session, 'result', task, before, (part) => progress(0.5 + part / 2)),
  );
  const names = [...(before.kept[0]?.keys() ?? []), ...before.otherOutputs];
  const compared = before.kept.slice(0, after.kept.length);
  const differences = names.map((name) => {
    const difference = new OutputDifference(name);
    for (const [index, one] of compared.entries())
      difference.add(one.get(name), after.kept[index]?.get(name));
    return difference;
  });
  const { reading, score } = before;
  const { source } = task.feed;
  return {
    outputs: differences.map((one) => one.result()),
    accuracy:
      reading === undefined || score.of === 0
        ? null
        : {
            before: score.met / score.of,
            after: after.score.met / score.of,
            samples: before.samples,
            output: reading.output,
          },
    data: dataUsed(source, compared.length, before.first),
    notes: setNotes(source, before.first),
    warnings: [...differences.map((one) => one.warning()), reading && labelsWarning(score, reading)].filter(
      (one) => one !== undefined,
    ),
    runtime: await runtimeVersion(),
  };
}
