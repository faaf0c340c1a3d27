import { ulid } from 'ulid';
import type { Best } from '../../data/experiment.ts';
import { appendMetrics } from '../../data/job-metrics.ts';
import type { CommandUser } from '../../process/executable.ts';
import { filesOpenForWriting } from '../../process/files-open-for-writing.ts';
import { type Outcome, supervise } from '../../process/supervise.ts';
import type { PreparedEnvironment } from '../environment/prepare-environment.ts';
import { restoreCheckpoints } from '../inputs/restore-checkpoints.ts';
import { noteProgress } from '../job/held-job.ts';
import type { Job } from '../job/job.ts';
import { trainingSandbox } from '../job/job-sandbox.ts';
import type { Workspace } from '../job/workspace.ts';
import type { ArtifactLimitError } from '../outputs/artifact-limit-error.ts';
import { OutputUploader } from '../outputs/output-uploader.ts';
import { BestValue } from '../telemetry/best-value.ts';
import { JobWatch } from '../telemetry/job-watch.ts';
import type { LogShipper } from '../telemetry/log-shipper.ts';
import { MetricReader } from '../telemetry/metric-reader.ts';
import { Paced } from '../telemetry/paced.ts';
import { shippingPace } from '../telemetry/shipping-pace.ts';
import { commandEnvironment } from './command-environment.ts';
import { CrashLine } from './crash-line.ts';
import { dockerCommand } from './docker-command.ts';
import { resolveCommand } from './parse-command.ts';
import { watchPeers } from './watch-peers.ts';

export interface CommandResult {
  outcome: Outcome;
  best: Best | null;
  /** The error that the command named at its end. */
  crash?: string | undefined;
}

interface CommandRun {
  job: Job;
  workspace: Workspace;
  prepared: PreparedEnvironment;
  configPath: string;
  user: CommandUser | undefined;
  shipper: LogShipper;
}

/** Starts to send home what node 0 leaves in its folders while it runs. */
function collectors({ job, workspace, prepared, user, shipper }: CommandRun, best: BestValue) {
  const { record: experiment, environment, lease, records, objects, settings, stop, now } = job;
  const say = (message: string) => shipper.say(message);
  const watch = new JobWatch(records, experiment.experiment_id, 0, now);
  // The outcome of the job names the last one in any case.
  const noteBest = new Paced(shippingPace.unwatched, () => {
    void noteProgress(job, { best: best.value }).catch(() => undefined);
  });
  const metrics = new MetricReader({
    file: workspace.metrics,
    ...(user !== undefined && { user }),
    sink: {
      append: (sequence, points) =>
        appendMetrics(records, experiment.experiment_id, lease, sequence, points, now()),
    },
    now,
    say,
    isWatched: () => watch.isWatched(),
    onPoints: (points) => {
      if (best.take(points)) noteBest.ask();
    },
  });
  const { marker } = environment;
  const ofCommand = user === undefined ? { marker } : { marker, uid: user.uid };
  // What the next attempt starts from goes home first: a container that is to end has few seconds left for it.
  const uploaders = (['checkpoint', 'artifact'] as const).map(
    (kind) =>
      new OutputUploader({
        folder: kind === 'artifact' ? workspace.output : workspace.checkpoints,
        kind,
        experiment,
        lease,
        records,
        objects,
        ...(user !== undefined && { user }),
        newId: () => ulid().toLowerCase(),
        now,
        say,
        maxBytes: settings.limits.artifactBytes,
        maxProjectBytes: settings.limits.projectBytes,
        onLimit: (error: ArtifactLimitError) => stop.because({ kind: 'limit', message: error.message }),
        // The processes of a container of its own may be on another machine, or another's.
        ...(prepared.image === null && { writable: () => filesOpenForWriting(ofCommand, user) }),
      }),
  );
  return { metrics, uploaders, noteBest };
}

/** Runs the command beside the supervisor, or in a container of its image, until it ends or has to stop. */
async function superviseCommand(
  { job, workspace, prepared, configPath, user, shipper }: CommandRun,
  crash: CrashLine,
): Promise<Outcome> {
  const { record: experiment, environment, stop } = job;
  const argv = resolveCommand(experiment.environment.entry_point_command, {
    config: configPath,
    output_dir: workspace.output,
  });
  const env = commandEnvironment(experiment, environment, workspace, configPath, prepared.env);
  const supervision = {
    cwd: workspace.source,
    timeoutSeconds: experiment.timeout,
    graceSeconds: environment.stopGrace,
    marker: environment.marker,
    stop: stop.signal,
    onOutput(stream: 'stdout' | 'stderr', chunk: Buffer) {
      crash.take(stream, chunk);
      return shipper.output(stream, chunk);
    },
  };
  if (prepared.image === null)
    return supervise({
      ...{ argv, env, ...supervision },
      ...(user !== undefined && { user }),
      sandbox: trainingSandbox(job, workspace, 'run'),
      memoryBytes: experiment.memory * 2 ** 20,
    });
  const docker = dockerCommand(job, workspace, prepared.image, argv, env, user);
  const outcome = await supervise({ argv: docker.argv, env: docker.env, ...supervision });
  if (outcome.cause !== 'exited') await docker.end();
  return outcome;
}

/** Runs the user's command in its prepared place and sends home what it prints, measures and leaves behind. */
export async function runCommand(run: CommandRun): Promise<CommandResult> {
  const { job, workspace, user, shipper } = run;
  const { record: experiment, environment } = job;
  const isMain = environment.container.node === 0;
  const best = new BestValue(experiment);
  if (isMain && experiment.attempt > 1) {
    const restored = await restoreCheckpoints({
      ...job,
      experiment,
      folder: workspace.checkpoints,
      stop: run.job.stop.signal,
      ...(user !== undefined && { user }),
    });
    if (restored > 0)
      shipper.say(`${restored} checkpoint files of an earlier attempt are in CHECKPOINT_DIR.`);
  }
  const { metrics, uploaders, noteBest } = collectors(run, best);
  if (isMain) for (const part of [metrics, ...uploaders]) part.start();
  const crash = new CrashLine();
  const endWatch = isMain ? watchPeers(job) : () => {};
  const outcome = await superviseCommand(run, crash).finally(endWatch);
  if (isMain) {
    await metrics.close();
    noteBest.end();
    const errors: unknown[] = [];
    // The one failing keeps the other from nothing.
    for (const uploader of uploaders)
      await uploader.finish().catch((error: unknown) => void errors.push(error));
    if (errors.length > 0) throw errors[0];
  }
  return { outcome, best: best.value, crash: crash.read() };
}
