import { createHash } from 'node:crypto';
import { type PlaceholderValues, variablesOf } from '../../command/placeholders.ts';
import type { Experiment } from '../../data/experiments/experiment.ts';
import type { TrainingContainer } from '../job/training-container.ts';
import type { Workspace } from '../job/workspace.ts';

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The whole environment of the user's command. It contains nothing of the supervisor, and no credentials. */
export function commandEnvironment(
  experiment: Experiment,
  workspace: Workspace,
  values: PlaceholderValues,
  prepared: Readonly<Record<string, string>>,
): Record<string, string> {
  const isCluster = experiment.kind === 'train-remote';
  return {
    PATH: process.env['PATH'] ?? defaultPath,
    HOME: workspace.home,
    // The user has only a number. Libraries that ask for its name (MLflow, PyTorch's compiler) would fail or warn.
    USER: 'job',
    LOGNAME: 'job',
    TMPDIR: workspace.temporary,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    // Lines appear in the log when they are printed, not when a buffer is full.
    PYTHONUNBUFFERED: '1',
    ...prepared,
    ...variablesOf(values, isCluster),
    EXPERIMENT_ID: experiment.experiment_id,
    PROJECT_ID: experiment.project_id,
    // Repeats of a trial differ in nothing else, unless a value of the configuration is their seed.
    ...(experiment.sweep?.seed != null && { SEED: String(experiment.sweep.seed) }),
    ...(isCluster && torchVariables(values)),
  };
}

/**
 * Variables that PyTorch's `init_method="env://"` reads in addition to MASTER_ADDR and MASTER_PORT, for one
 * process per node.
 */
const torchVariables = ({ node_rank, num_nodes }: PlaceholderValues) => ({
  RANK: node_rank,
  WORLD_SIZE: num_nodes,
  LOCAL_RANK: '0',
  LOCAL_WORLD_SIZE: '1',
});

/** The values of a run, by the names of the placeholders. A training on one node is node 0 of 1. */
export function runValues(
  experiment: Experiment,
  { nodes, mainAddress, identity }: TrainingContainer,
  workspace: Workspace,
  configPath: string,
): PlaceholderValues {
  return {
    config: configPath,
    output_dir: workspace.output,
    data_dir: workspace.data,
    checkpoint_dir: workspace.checkpoints,
    metrics_file: workspace.metrics,
    node_rank: String(identity.node),
    num_nodes: String(nodes),
    master_addr: mainAddress,
    master_port: String(masterPort(experiment.experiment_id)),
  };
}

const firstPort = 29_500;

const ports = 1000;

/** Rendezvous port of a cluster's nodes, derived from the experiment. */
function masterPort(experiment_id: string): number {
  return firstPort + (createHash('sha256').update(experiment_id).digest().readUInt16BE(0) % ports);
}
