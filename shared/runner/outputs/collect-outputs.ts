import { newId } from '../../core/new-id.ts';
import type { ArtifactKind } from '../../data/artifact.ts';
import type { MetricPoint } from '../../data/metric-point.ts';
import { filesOpenForWriting } from '../../process/files-open-for-writing.ts';
import type { PreparedEnvironment } from '../environment/prepare-environment.ts';
import { noteProgress } from '../job/note-progress.ts';
import type { TrainingRun } from '../job/training-job.ts';
import { BestValue, type Ranking } from '../telemetry/best-value.ts';
import { JobWatch } from '../telemetry/job-watch.ts';
import { MetricReader } from '../telemetry/metric-reader.ts';
import { Paced } from '../telemetry/paced.ts';
import { PointLog } from '../telemetry/point-log.ts';
import { shippingPace } from '../telemetry/shipping-pace.ts';
import { OutputUploader } from './output-uploader.ts';
import type { RunLogs } from './run-logs.ts';

/** Collectors of a command's outputs on node 0. */
interface Collection {
  /** Stores what the command logs through a client. */
  logs: RunLogs;
  /**
   * Collect the rest, once the command has ended. Return what ranks the experiment.
   * @throws ArtifactLimitError where not all files could be stored; LeaseLostError
   */
  finish(): Promise<Ranking>;
}

/** Read METRICS_FILE beside the points that a client logs, and note the best value on the record as it improves. */
function readMetrics({ job, workspace, user, shipper, variables }: TrainingRun, best: BestValue) {
  const { record: experiment, lease, records, now } = job;
  const watch = new JobWatch(records, experiment.experiment_id, 0, now);
  // A note that fails may be lost: the conclusion of the job names the best value again.
  const noteBest = new Paced(shippingPace.unwatched, () => {
    void noteProgress(job, { ...best.value }).catch(() => undefined);
  });
  const pointLog = new PointLog({ records, experiment, lease, now });
  const onPoints = (points: readonly MetricPoint[]): void => {
    if (best.take(points)) noteBest.ask();
  };
  const reader = new MetricReader({
    file: workspace.metrics,
    ...(user !== undefined && { user }),
    sink: { append: (_, points) => pointLog.store(points) },
    now,
    mask: variables.mask,
    say: (message) => shipper.say(message),
    isWatched: () => watch.isWatched(),
    onPoints,
  });
  const logPoints = async (points: readonly MetricPoint[]): Promise<void> => {
    await pointLog.store(points, true);
    onPoints(points);
  };
  return { reader, noteBest, pointLog, logPoints };
}

/** The uploader of OUTPUT_DIR or CHECKPOINT_DIR. */
function uploaderOf(
  { job, workspace, user, shipper }: TrainingRun,
  { image }: PreparedEnvironment,
  kind: ArtifactKind,
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
    onLimit: (error) => stop.because({ kind: 'limit', message: error.message }),
    // Processes of another container cannot be seen from here.
    ...(image === null && { writable: () => filesOpenForWriting(ofCommand, user) }),
  });
}

/** Start to collect the metrics, checkpoints and artifacts of the command on node 0, while it runs. */
export function collectOutputs(run: TrainingRun, prepared: PreparedEnvironment): Collection {
  const best = new BestValue(run.job.record);
  const { reader, noteBest, pointLog, logPoints } = readMetrics(run, best);
  // Checkpoints first: the next attempt starts from them, and a container that is stopped has few seconds left.
  const artifacts = uploaderOf(run, prepared, 'artifact');
  const uploaders = [uploaderOf(run, prepared, 'checkpoint'), artifacts];
  for (const part of [reader, ...uploaders]) part.start();
  return {
    logs: {
      points: logPoints,
      file: (path, file) => artifacts.log(path, file),
    },
    async finish() {
      await reader.close();
      await pointLog.close();
      noteBest.end();
      const errors: unknown[] = [];
      // Finish every uploader, also after one has failed.
      for (const uploader of uploaders)
        await uploader.finish().catch((error: unknown) => void errors.push(error));
      if (errors.length > 0) throw errors[0];
      return best.value;
    },
  };
}
