import { newId } from '../../core/new-id.ts';
import type { ArtifactKind } from '../../data/experiments/artifact.ts';
import type { SystemUse } from '../../data/experiments/system-use.ts';
import type { MetricPoint } from '../../data/metrics/metric-summary.ts';
import { configParams } from '../../experiments/config-params.ts';
import { isSystemMetric } from '../../metrics/system-metric.ts';
import { filesOpenForWriting } from '../../process/files-open-for-writing.ts';
import type { PreparedEnvironment } from '../environment/prepare-environment.ts';
import { noteProgress } from '../job/hold-job.ts';
import type { TrainingRun } from '../job/training-job.ts';
import type { MetricRules } from '../printed-metrics/metric-rules.ts';
import { MetricsFileReader } from '../telemetry/metrics-file-reader.ts';
import { PointLog } from '../telemetry/point-log.ts';
import { RuleWatch } from '../telemetry/rule-watch.ts';
import { RungReporter } from '../telemetry/rung-reporter.ts';
import { shippingPace } from '../telemetry/shipping-pace.ts';
import { SystemSampler, type SystemSamplerOptions } from '../telemetry/system-sampler.ts';
import { addOwnParams } from './change-own-fields.ts';
import type { ClientRecords } from './client-records.ts';
import { FileMetrics } from './file-metrics.ts';
import { MetricSource } from './metric-source.ts';
import { PrintedMetricsSource } from './printed-metrics-source.ts';
import { projectRules } from './project-rules.ts';
import { OutputUploader } from './upload/output-uploader.ts';
import { WorkingFolder } from './working-folder.ts';

/** Collectors of a command's outputs on node 0. */
interface Collection {
  /** Stores the points and files that the command logs through a client. */
  logs: ClientRecords;
  /** Samples what the command uses. */
  system: SystemSampler;
  /**
   * Collect the remaining outputs after the command has ended, and return the warnings for the run, and what it used.
   * @throws ArtifactLimitError if not all files could be stored; LeaseLostError
   */
  finish(): Promise<{ warnings: string[]; system: SystemUse | undefined }>;
}

/**
 * Start to collect the metrics, checkpoints and artifacts of the command on node 0. Call it right before the
 * command starts: what is in the working folder then is not the command's.
 */
export async function collectOutputs(run: TrainingRun, prepared: PreparedEnvironment): Promise<Collection> {
  const { reader, noteWarnings, pointLog, logPoints, rungs, rules, logMetrics, fileMetrics, system } =
    readMetrics(run, await projectRules(run.workspace.folder, run.user));
  // Checkpoints first: the next attempt starts from them, and a container that is stopped has few seconds left.
  const artifacts = uploaderOf(run, prepared, 'artifact');
  const began = performance.now();
  const onStored = () => run.job.progress.noteCheckpoint((performance.now() - began) / 1000);
  const uploaders = [uploaderOf(run, prepared, 'checkpoint', onStored), artifacts];
  const working = workingFolderOf(run, artifacts);
  await working.note();
  await fileMetrics.note().catch(() => undefined);
  for (const part of [reader, fileMetrics, rules, ...uploaders]) part.start();
  return {
    system,
    logs: {
      points: logPoints,
      file: (path, file) => artifacts.log(path, file),
    },
    async finish() {
      await reader.close();
      await fileMetrics.close();
      const unrecorded = await addOwnParams(run.job, configParams(fileMetrics.params));
      run.shipper.endOutput();
      await logMetrics.close();
      await fileMetrics.closeSummaries((name) => logMetrics.has(name));
      const used = await system.close();
      await pointLog.close();
      await rungs.close();
      const unjudged = await rules.close();
      noteWarnings.end();
      const errors: unknown[] = [];
      // Finish every uploader, also after one has failed.
      for (const uploader of uploaders)
        await uploader.finish().catch((error: unknown) => void errors.push(error));
      const left = await working.keep().catch((error: unknown) => {
        errors.push(error);
        return [];
      });
      if (errors.length > 0) throw errors[0];
      const warnings = [
        ...reader.warnings,
        ...fileMetrics.warnings,
        ...logMetrics.warnings,
        ...unrecorded,
        ...unjudged,
        ...left,
      ];
      return { warnings, system: used };
    },
  };
}

/**
 * Read METRICS_FILE in addition to the points that a client logs, and note its faults on the record. If the program
 * does neither, take the metrics that frameworks write to files, or those that it prints.
 */
function readMetrics(run: TrainingRun, metricRules: MetricRules | undefined) {
  const { job, workspace, user, shipper, variables } = run;
  const rungs = new RungReporter(job);
  const rules = new RuleWatch(job, (message) => shipper.say(message));
  const { record: experiment, lease, records, watch, heart, now } = job;
  // A failed note may be lost, because the conclusion of the job contains the warnings too.
  const noteWarnings = new Paced(shippingPace.unwatched, () => {
    void noteProgress(job, { warnings: reader.warnings }).catch(() => undefined);
  });
  // Rules see samples of the machine when they are made. They are stored up to a minute later.
  const sampled = new WeakSet<MetricPoint>();
  const onFresh = (points: readonly MetricPoint[]) =>
    rules.take(points.filter((point) => !sampled.has(point)));
  const onLaterStep = () => job.progress.noteStep();
  const pointLog: PointLog = new PointLog({
    ...{ records, experiment, lease, now, onFresh, onLaterStep },
    onBeat: () => heart.beaten(),
    waitingPoints: () => system.ride(),
    waitingLines: () => shipper.ride(),
  });
  const system = systemSampler(run, pointLog, {
    isWatched: () => watch.isWatched(),
    onSample(points) {
      for (const point of points) sampled.add(point);
      rules.take(points);
    },
  });
  const source = new MetricSource((found) => {
    void noteProgress(job, { metrics_source: found }).catch(() => undefined);
  });
  const reported = (points: readonly MetricPoint[], once = false): Promise<void> => {
    // Measurements of the machine are no metrics of the program, whoever logs them.
    const ofSystem = points.filter(({ name }) => isSystemMetric(name));
    for (const { name } of ofSystem) system.leave(name);
    if (points.length > ofSystem.length) {
      source.report();
      rules.heard();
    }
    return pointLog.store(points, once);
  };
  const found = {
    source,
    now,
    say: (message: string) => shipper.say(message),
    isWatched: () => watch.isWatched(),
  };
  const stored = async (points: readonly MetricPoint[], once: boolean): Promise<void> => {
    await pointLog.store(points, once);
    rungs.take(points);
  };
  const logMetrics = new PrintedMetricsSource({
    ...found,
    rules: metricRules,
    sink: { append: (_, points) => stored(points, false) },
  });
  const fileMetrics = new FileMetrics({
    ...found,
    sink: {
      append: (_, points) => stored(points, true),
      purge: (given) => pointLog.purge(given),
    },
    folders: [workspace.source, workspace.output, workspace.checkpoints],
    user,
    mask: variables.mask,
  });
  shipper.listen((stream, lines, chunk) => {
    rules.heard();
    logMetrics.read(stream, lines, chunk);
  });
  const reader = new MetricsFileReader({
    file: workspace.metrics,
    ...(user !== undefined && { user }),
    sink: { append: (_, points) => reported(points) },
    now,
    mask: variables.mask,
    say: (message) => shipper.say(message),
    isWatched: () => watch.isWatched(),
    onPoint(point) {
      rules.heard();
      rungs.take([point]);
    },
    onWarnings: () => noteWarnings.ask(),
  });
  const logPoints = async (points: readonly MetricPoint[]): Promise<void> => {
    await reported(points, true);
    rungs.take(points);
  };
  return { reader, noteWarnings, pointLog, logPoints, rungs, rules, logMetrics, fileMetrics, system };
}

/** The steps of a later attempt go on from those of the earlier ones. */
function systemSampler(
  { job, workspace, variables }: TrainingRun,
  pointLog: PointLog,
  listeners: Pick<SystemSamplerOptions, 'isWatched' | 'onSample'>,
): SystemSampler {
  const { vcpus, memory, gpus } = job.record;
  const seconds = Number(variables.values[intervalVariable]);
  return new SystemSampler({
    size: { vcpus, memory, gpus },
    folder: workspace.root,
    ...(seconds >= 1 && { seconds }),
    isAlone: job.settings.jobsRunAs === 'containers',
    sink: { append: (_, points) => pointLog.store(points) },
    firstStep: async () => (job.record.attempt > 1 ? nextSystemStep(await pointLog.summaries()) : 0),
    now: job.now,
    ...listeners,
  });
}

/** MLflow's own variable for the seconds between two samples. A project may set it. */
const intervalVariable = 'MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL';

const nextSystemStep = (summaries: ReadonlyMap<string, { step: number | null }>): number =>
  Math.max(0, ...[...summaries].map(([name, { step }]) => (isSystemMetric(name) ? (step ?? 0) + 1 : 0)));

/** Calls a function when asked, at most once per interval. Requests within an interval are one call at its end. */
class Paced {
  readonly #milliseconds: number;
  readonly #act: () => void;
  #last = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number, act: () => void) {
    this.#milliseconds = milliseconds;
    this.#act = act;
  }

  ask(): void {
    if (this.#timer !== undefined) return;
    const wait = Math.max(0, this.#last + this.#milliseconds - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#last = performance.now();
      this.#act();
    }, wait).unref();
  }

  /** Cancel a pending call. */
  end(): void {
    clearTimeout(this.#timer);
  }
}

/** The unpacked source, in which the command runs. */
const workingFolderOf = ({ workspace, user, shipper }: TrainingRun, artifacts: OutputUploader) =>
  new WorkingFolder({
    folder: workspace.source,
    user,
    log: (path, file) => artifacts.log(path, file),
    room: () => artifacts.room,
    say: (message) => shipper.say(message),
  });

/** The uploader of OUTPUT_DIR or CHECKPOINT_DIR. */
function uploaderOf(
  { job, workspace, user, shipper }: TrainingRun,
  { image }: PreparedEnvironment,
  kind: ArtifactKind,
  onStored?: () => Promise<void>,
): OutputUploader {
  const { record: experiment, container, lease, records, objects, settings, stop, now } = job;
  const { marker } = container;
  const ofCommand = user === undefined ? { marker } : { marker, uid: user.uid };
  return new OutputUploader({
    folder: kind === 'artifact' ? workspace.output : workspace.checkpoints,
    kind,
    experiment,
    lease,
    records,
    objects,
    ...(user !== undefined && { user }),
    newId,
    now,
    say: (message) => shipper.say(message),
    maxBytes: settings.limits.artifactBytes,
    maxProjectBytes: settings.limits.projectBytes,
    ...(onStored !== undefined && { onStored }),
    onLimit: (error) => stop.because({ kind: 'limit', message: error.message }),
    // Processes of another container cannot be seen from here.
    ...(image === null && { writable: () => filesOpenForWriting(ofCommand, user) }),
  });
}
