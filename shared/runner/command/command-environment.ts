import { createHash } from 'node:crypto';
import type { Experiment } from '../../data/experiment.ts';
import type { JobEnvironment } from '../job/job-environment.ts';
import type { Workspace } from '../job/workspace.ts';

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const firstPort = 29_500;
const ports = 1000;

/** Port of the meeting point of a cluster's nodes: the same on all, and another for another experiment. */
function masterPort(experiment_id: string): number {
  return firstPort + (createHash('sha256').update(experiment_id).digest().readUInt16BE(0) % ports);
}

/** The whole environment of the user's command. Nothing of the supervisor's is in it, credentials least of all. */
export function commandEnvironment(
  experiment: Experiment,
  { nodes, mainAddress, container }: JobEnvironment,
  workspace: Workspace,
  configPath: string,
  prepared: Readonly<Record<string, string>>,
): Record<string, string> {
  const isRemote = experiment.kind === 'train-remote';
  return {
    PATH: process.env['PATH'] ?? defaultPath,
    HOME: workspace.home,
    TMPDIR: workspace.temporary,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    // Lines appear in the log when they are printed, not when a buffer is full.
    PYTHONUNBUFFERED: '1',
    ...prepared,
    CONFIG_PATH: configPath,
    DATA_DIR: workspace.data,
    OUTPUT_DIR: workspace.output,
    CHECKPOINT_DIR: workspace.checkpoints,
    METRICS_FILE: workspace.metrics,
    EXPERIMENT_ID: experiment.experiment_id,
    PROJECT_ID: experiment.project_id,
    ...(isRemote && {
      NODE_RANK: String(container.node),
      NUM_NODES: String(nodes),
      MASTER_ADDR: mainAddress,
      MASTER_PORT: String(masterPort(experiment.experiment_id)),
    }),
  };
}
