import { ulid } from 'ulid';
import type { ArtifactKind } from '../../data/artifact.ts';
import { appendMetrics } from '../../data/job-metrics.ts';
import { chunksPerGroup, compactPoints } from '../../data/point-blocks.ts';
import { filesOpenForWriting } from '../../process/files-open-for-writing.ts';
import type { PreparedEnvironment } from '../environment/prepare-environment.ts';
import { noteProgress } from '../job/note-progress.ts';
import type { TrainingRun } from '../job/training-job.ts';
import { BestValue, type Ranking } from '../telemetry/best-value.ts';
import { JobWatch } from '../telemetry/job-watch.ts';
import { MetricReader } from '../telemetry/metric-reader.ts';
import { MetricTotals } from '../telemetry/metric-totals.ts';
import { Paced } from '../telemetry/paced.ts';
import { shippingPace } from '../telemetry/shipping-pace.ts';
import { OutputUploader } from './output-uploader.ts';

/** Collectors of a command's outputs on node 0. */
interface Collection {
  /**
   * Collect the rest, once the command has ended. Return what ranks the experiment.
   * @throws ArtifactLimitError where not all files could be stored; LeaseLostError
   */
  finish(): Promise<Ranking>;
}

/** Read METRICS_FILE, and note the best value on the record as it improves. */
function readMetrics({ job, workspace, user, shipper, variables }: TrainingRun, best: BestValue) {
  const { record: experiment, lease, records, now } = job;
  const { experiment_id } = experiment;
  const totals = new MetricTotals(records, experiment);
  const watch = new JobWatch(records, experiment_id, 0, now);
  // A note that fails may be lost: the conclusion of the job names the best value again.
  const noteBest = new Paced(shippingPace.unwatched, () => {
    void noteProgress(job, { ...best.value }).catch(() => undefined);
  });
  const reader = new MetricReader({
    file: workspace.metrics,
    ...(user !== undefined && { user }),
    sink: {
      async append(sequence, points) {
        await totals.store(points, (writes) =>
          appendMetrics(records, experiment_id, lease, sequence, points, now(), ...writes),
        );
        if ((sequence + 1) % chunksPerGroup !== 0) return;
        // The points are stored: what goes wrong here is left to the next.
        await compactPoints(records, experiment_id).catch(() => undefined);
      },
    },
    now,
    mask: variables.mask,
    say: (message) => shipper.say(message),
    isWatched: () => watch.isWatched(),
    onPoints: (points) => {
      if (best.take(points)) noteBest.ask();
    },
  });
  return { reader, noteBest };
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
    newId: () => ulid().toLowerCase(),
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
  const { reader, noteBest } = readMetrics(run, best);
  // Checkpoints first: the next attempt starts from them, and a container that is stopped has few seconds left.
  const uploaders = (['checkpoint', 'artifact'] as const).map((kind) => uploaderOf(run, prepared, kind));
  for (const part of [reader, ...uploaders]) part.start();
  return {
    async finish() {
      await reader.close();
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
