import { ulid } from 'ulid';
import { type Experiment, emptyExperiment } from '../../shared/data/experiments/experiment.ts';

const at = '2026-01-02T03:04:05.000Z';

/** An experiment that has a configuration. */
type Training = Experiment & { config_id: string; config_version: number; config_sha256: string };

/** An experiment on record: one that runs, or where `value` is given one that succeeded with this accuracy. */
export function experimentOf(project_id: string, value: number | null): Training {
  return {
    ...emptyExperiment,
    experiment_id: ulid().toLowerCase(),
    project_id,
    kind: 'train',
    config_id: 'train.yaml',
    config_version: 1,
    config_sha256: 'a'.repeat(64),
    environment: { entry_point_command: 'true', env_type: 'system', dependencies: '', version: 1 },
    criterion: { name: 'accuracy', goal: 'maximize' },
    best: value === null ? null : { criterion: 'accuracy', value, step: 3 },
    limit_share: 0,
    budget: null,
    charged: null,
    spent: 0,
    limits: null,
    line_ticket: null,
    begun_at: null,
    status: value === null ? 'RUNNING' : 'SUCCEEDED',
    status_rank: value === null ? 5 : 6,
    status_reason: null,
    attempt: 1,
    batch_attempt: 1,
    attempts: [],
    batch_job_id: null,
    depends_on: null,
    user_id: ulid().toLowerCase(),
    created_at: at,
    started_at: at,
    stopped_at: null,
    cancel_requested_at: null,
    cancelled_by: null,
    checked_at: at,
    exit_code: null,
    signal: null,
    vcpus: 1,
    memory: 512,
    gpus: 0,
    nodes: 1,
    timeout: 60,
    version: 1,
  };
}
