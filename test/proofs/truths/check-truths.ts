import { setTimeout as sleep } from 'node:timers/promises';
import type { endpoint as compareExperiments } from '../../../functions/experiments/compare/compare-experiments.endpoint.ts';
import type { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import type { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { ProblemError } from '../../../shared/client/problem-error.ts';
import { isFinal, type JobStatus } from '../../../shared/data/jobs/job-status.ts';
import { shortForm } from '../../support/short-form.ts';
import { proof as upgrade } from '../faults/upgrade.proof.ts';
import type { TruthName } from './truths.ts';
import type { World } from './world.ts';

/** How each truth is checked against the running service: what was seen instead, or nothing. */
export const checks: Readonly<Record<TruthName, (world: World) => Promise<string[]>>> = {
  upgrade: async () => (await shortForm(upgrade)).missed,
  compare: compareFifty,
  budget: endByBudget,
  machine: measureMachine,
  wait: waitInLine,
};

async function compareFifty({ client, project }: World): Promise<string[]> {
  const project_id = await project('compared', {});
  const ids: string[] = [];
  for (let index = 0; index < 51; index += 1) {
    const { experiment_id } = await client.call<typeof createExperiment>(
      'POST /projects/{project_id}/experiments',
      { path: { project_id }, body: { params: { lr: String(index) } } },
    );
    await client.call<typeof logMetrics>('POST /projects/{project_id}/experiments/{experiment_id}/metrics', {
      path: { project_id, experiment_id },
      body: { metrics: [{ name: 'loss', value: index / 2, step: 1 }] },
    });
    ids.push(experiment_id);
  }
  const compare = (some: readonly string[]) =>
    client.call<typeof compareExperiments>('GET /projects/{project_id}/compare', {
      path: { project_id },
      query: { experiments: some.join() },
    });

  const { params, metrics } = await compare(ids.slice(0, 50));
  const refused = await compare(ids).catch((error: unknown) => error);

  return [
    ...(new Set(params.differ['lr']).size === 50 ? [] : [`params: ${JSON.stringify(params)}`]),
    ...(metrics.differ['loss']?.every((value, index) => value === index / 2) ? [] : ['the metrics differ']),
    ...(refused instanceof ProblemError && JSON.stringify(refused.faults).includes('2 to 50')
      ? []
      : ['51 are not refused']),
  ];
}

/** Saves a checkpoint when it is stopped; goes on from one to its end. */
const saving = `
trap 'touch "$CHECKPOINT_DIR/saved"; exit 143' TERM
if [ -e "$CHECKPOINT_DIR/saved" ]; then echo went on; exit 0; fi
while :; do sleep 0.1; done
`;

async function endByBudget({ mps, project }: World): Promise<string[]> {
  await project('bounded', { 'train.sh': saving });
  const stopped = await mps('bounded', 'run', '--budget', '1', '--', 'sh', 'train.sh');
  const shown = JSON.parse((await mps('bounded', 'show', '--json')).stdout);
  const again = await mps('bounded', 'rerun', '--budget', '5');
  return [
    ...(/^Stopped by a budget\./.test(shown.status_reason ?? '') ? [] : [stopped.stderr]),
    ...(again.code === 0 && again.stdout.includes('went on') ? [] : [again.stderr]),
  ];
}

async function measureMachine({ mps, project }: World): Promise<string[]> {
  await project('measured', { 'train.sh': 'sleep 25\n' });
  await mps('measured', 'run', '--', 'sh', 'train.sh');
  const { system } = JSON.parse((await mps('measured', 'show', '--json')).stdout);
  const names = Object.keys(system?.metrics ?? {});
  const missing = ['cpu_utilization', 'system_memory_usage', 'disk_usage'].filter(
    (part) => !names.some((name) => name.includes(part)),
  );
  return [
    ...missing.map((part) => `no curve of ${part}`),
    ...(/^Peak .* of .* GiB/.test(system?.text ?? '') ? [] : [`the text is ${system?.text}`]),
  ];
}

async function waitInLine({ mps, project }: World): Promise<string[]> {
  await project('waiting', { 'train.sh': 'sleep 3\n' });
  const begun = [];
  for (let index = 0; index < 4; index += 1)
    begun.push(await mps('waiting', 'run', '-d', '--', 'sh', 'train.sh'));
  const rows = async () =>
    (await mps('waiting', 'ls', '--json')).stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  const places = (await rows()).map(({ place_in_line }) => place_in_line).toSorted();
  let statuses: JobStatus[] = [];
  for (let look = 0; look < 120; look += 1) {
    statuses = (await rows()).map(({ status }) => status);
    if (statuses.every(isFinal)) break;
    await sleep(1000);
  }
  return [
    ...begun.filter(({ code }) => code !== 0).map(({ stderr }) => stderr),
    ...(places.filter((place) => place !== null).length >= 2 ? [] : [`places in line: ${places.join()}`]),
    ...(statuses.every((status) => status === 'SUCCEEDED') ? [] : [`statuses: ${statuses.join()}`]),
  ];
}
