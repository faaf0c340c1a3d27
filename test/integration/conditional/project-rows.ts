import { endpoint as readMetrics } from '../../../functions/experiments/metrics/read-metrics.endpoint.ts';
import { endpoint as cancelExperiment } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as deleteExperiment } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as logParams } from '../../../functions/experiments/records/log-params.endpoint.ts';
import { endpoint as readExperiment } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as updateExperiment } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import { endpoint as deleteConfig } from '../../../functions/projects/configs/delete-config.endpoint.ts';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as readConfig } from '../../../functions/projects/configs/read-config.endpoint.ts';
import { endpoint as readConfigGraph } from '../../../functions/projects/configs/read-config-graph.endpoint.ts';
import { endpoint as readExperimentConfig } from '../../../functions/projects/configs/read-experiment-config.endpoint.ts';
import { endpoint as readExperimentConfigGraph } from '../../../functions/projects/configs/read-experiment-config-graph.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as readEnvironment } from '../../../functions/projects/environment/read-environment.endpoint.ts';
import { endpoint as deleteHook } from '../../../functions/projects/hooks/delete-hook.endpoint.ts';
import { endpoint as listHooks } from '../../../functions/projects/hooks/list-hooks.endpoint.ts';
import { endpoint as putHook } from '../../../functions/projects/hooks/put-hook.endpoint.ts';
import { endpoint as readHook } from '../../../functions/projects/hooks/read-hook.endpoint.ts';
import { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { endpoint as createReport } from '../../../functions/projects/reports/create-report.endpoint.ts';
import { endpoint as deleteReport } from '../../../functions/projects/reports/delete-report.endpoint.ts';
import { endpoint as readReport } from '../../../functions/projects/reports/read-report.endpoint.ts';
import { endpoint as updateReport } from '../../../functions/projects/reports/update-report.endpoint.ts';
import { endpoint as createSchedule } from '../../../functions/projects/schedules/create-schedule.endpoint.ts';
import { endpoint as deleteSchedule } from '../../../functions/projects/schedules/delete-schedule.endpoint.ts';
import { endpoint as pauseSchedule } from '../../../functions/projects/schedules/pause-schedule.endpoint.ts';
import { endpoint as readSchedule } from '../../../functions/projects/schedules/read-schedule.endpoint.ts';
import { endpoint as resumeSchedule } from '../../../functions/projects/schedules/resume-schedule.endpoint.ts';
import { endpoint as runSchedule } from '../../../functions/projects/schedules/run-schedule.endpoint.ts';
import { endpoint as updateSchedule } from '../../../functions/projects/schedules/update-schedule.endpoint.ts';
import { endpoint as cancelSweep } from '../../../functions/projects/sweeps/cancel-sweep.endpoint.ts';
import { endpoint as createSweep } from '../../../functions/projects/sweeps/create-sweep.endpoint.ts';
import { endpoint as createTrial } from '../../../functions/projects/sweeps/create-trial.endpoint.ts';
import { endpoint as deleteSweep } from '../../../functions/projects/sweeps/delete-sweep.endpoint.ts';
import { endpoint as pauseSweep } from '../../../functions/projects/sweeps/pause-sweep.endpoint.ts';
import { endpoint as readSweep } from '../../../functions/projects/sweeps/read-sweep.endpoint.ts';
import { endpoint as resumeSweep } from '../../../functions/projects/sweeps/resume-sweep.endpoint.ts';
import { endpoint as retrySweep } from '../../../functions/projects/sweeps/retry-sweep.endpoint.ts';
import { endpoint as updateSweep } from '../../../functions/projects/sweeps/update-sweep.endpoint.ts';
import { endpoint as rerunExperiment } from '../../../functions/projects/training/rerun-experiment.endpoint.ts';
import { endpoint as trainProject } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as trainProjectRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import { endpoint as putDataset } from '../../../functions/projects/uploads/put-dataset.endpoint.ts';
import { endpoint as putSource } from '../../../functions/projects/uploads/put-source.endpoint.ts';
import { endpoint as readSource } from '../../../functions/projects/uploads/read-source.endpoint.ts';
import { endpoint as deleteVariable } from '../../../functions/projects/variables/delete-variable.endpoint.ts';
import { endpoint as deleteVariables } from '../../../functions/projects/variables/delete-variables.endpoint.ts';
import { endpoint as listVariables } from '../../../functions/projects/variables/list-variables.endpoint.ts';
import { endpoint as putVariable } from '../../../functions/projects/variables/put-variable.endpoint.ts';
import { endpoint as putVariables } from '../../../functions/projects/variables/put-variables.endpoint.ts';
import { endpoint as readVariable } from '../../../functions/projects/variables/read-variable.endpoint.ts';
import { archive, sha256 } from '../projects/upload-file.ts';
import type { Rows } from './rows.ts';

const asJson = { 'Content-Type': 'application/json' };
export const sources = [archive('one'), archive('two')];
export const files = [Buffer.from('one'), Buffer.from('two')];
const command = (n: number) => ({
  entry_point_command: `python train.py ${n}`,
  env_type: 'system',
  dependencies: 'none',
});

/** Everything below `/projects/` whose answer has an ETag or that a precondition guards. */
export const projectRows: Rows = {
  reads: [
    { endpoint: readProject, change: updateProject },
    { endpoint: readConfig, change: putConfig },
    { endpoint: readConfigGraph, accept: 'application/json', change: putConfig },
    { endpoint: readConfigGraph, accept: 'image/svg+xml', change: putConfig },
    { endpoint: readEnvironment, change: putEnvironment },
    { endpoint: listVariables, change: putVariables },
    { endpoint: readVariable, change: putVariable },
    { endpoint: readHook, change: putHook },
    { endpoint: listHooks },
    { endpoint: readSource, change: putSource },
    { endpoint: readExperiment, change: updateExperiment },
    { endpoint: readSweep, change: updateSweep },
    { endpoint: readReport, change: updateReport },
    { endpoint: readSchedule, change: updateSchedule },
    { endpoint: readExperimentConfig },
    { endpoint: readExperimentConfigGraph, accept: 'application/json' },
    { endpoint: readExperimentConfigGraph, accept: 'image/svg+xml' },
    { endpoint: readMetrics, accept: 'application/json' },
    { endpoint: readMetrics, accept: 'image/svg+xml' },
  ],
  changes: [
    {
      endpoint: updateProject,
      content: (n) => ({ body: JSON.stringify({ project_name: `name ${n}` }), headers: asJson }),
      reads: readProject,
      effect: 'sets',
    },
    { endpoint: deleteProject, content: () => ({}), reads: readProject, effect: 'removes' },
    { endpoint: putConfig, content: (n) => ({ body: `n: ${n}\n` }), reads: readConfig, effect: 'puts' },
    { endpoint: deleteConfig, content: () => ({}), reads: readConfig, effect: 'removes' },
    {
      endpoint: putEnvironment,
      content: (n) => ({ query: command(n) }),
      reads: readEnvironment,
      effect: 'puts',
    },
    {
      endpoint: putVariables,
      content: (n) => ({
        body: JSON.stringify({ variables: [{ name: 'MODE', value: `mode ${n}`, secret: false }] }),
        headers: asJson,
      }),
      reads: listVariables,
      effect: 'sets',
    },
    { endpoint: deleteVariables, content: () => ({}), reads: listVariables, effect: 'sets' },
    {
      endpoint: putVariable,
      content: (n) => ({ body: JSON.stringify({ value: `a secret ${n}` }), headers: asJson }),
      reads: readVariable,
      effect: 'puts',
    },
    { endpoint: deleteVariable, content: () => ({}), reads: readVariable, effect: 'removes' },
    {
      endpoint: putHook,
      content: (n) => ({
        body: JSON.stringify({
          url: `https://hooks.invalid/${n}`,
          format: 'slack',
          events: [n % 2 === 0 ? 'experiment.failed' : 'sweep.ended'],
        }),
        headers: asJson,
      }),
      reads: readHook,
      effect: 'puts',
    },
    { endpoint: deleteHook, content: () => ({}), reads: readHook, effect: 'removes' },
    {
      endpoint: putSource,
      content: (n) => ({ query: { sha256: sha256(sources[Math.min(n, 1)]!) } }),
      reads: readSource,
      effect: 'puts',
    },
    {
      endpoint: putDataset,
      content: (n) => ({ query: { sha256: sha256(files[Math.min(n, 1)]!) } }),
      effect: 'puts',
    },
    {
      endpoint: updateExperiment,
      content: (n) => ({ body: JSON.stringify({ name: `name ${n}` }), headers: asJson }),
      reads: readExperiment,
      effect: 'sets',
    },
    { endpoint: deleteExperiment, content: () => ({}), reads: readExperiment, effect: 'removes' },
    {
      endpoint: updateSweep,
      content: (n) => ({ body: JSON.stringify({ name: `name ${n}` }), headers: asJson }),
      reads: readSweep,
      effect: 'sets',
    },
    { endpoint: deleteSweep, content: () => ({}), reads: readSweep, effect: 'removes' },
    {
      endpoint: updateReport,
      content: (n) => ({ body: JSON.stringify({ title: `title ${n}` }), headers: asJson }),
      reads: readReport,
      effect: 'sets',
    },
    { endpoint: deleteReport, content: () => ({}), reads: readReport, effect: 'removes' },
    {
      endpoint: updateSchedule,
      content: (n) => ({ body: JSON.stringify({ name: `name ${n}` }), headers: asJson }),
      reads: readSchedule,
      effect: 'sets',
    },
    { endpoint: deleteSchedule, content: () => ({}), reads: readSchedule, effect: 'removes' },
  ],
  tagged: [
    createProject,
    createExperiment,
    logParams,
    trainProject,
    trainProjectRemote,
    cancelExperiment,
    rerunExperiment,
    createSweep,
    createTrial,
    pauseSweep,
    resumeSweep,
    cancelSweep,
    retrySweep,
    createReport,
    createSchedule,
    pauseSchedule,
    resumeSchedule,
    runSchedule,
  ],
};
