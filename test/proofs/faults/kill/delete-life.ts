import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { uploadSeconds } from '../../../../shared/aws/upload-seconds.ts';
import { isAuditItem } from '../../../../shared/data/accounts/audit.ts';
import { experimentKey } from '../../../../shared/data/experiments/experiment.ts';
import { projectKey } from '../../../../shared/data/projects/project.ts';
import { listPurges } from '../../../../shared/data/projects/purge.ts';
import { findOrphans, type Inventory } from '../../../support/inventory.ts';
import type { TracedCall } from '../injection/middleware.ts';
import { pass } from '../world/pass.ts';
import { startProgram } from '../world/process.ts';
import { environmentOf, openService, type Service } from '../world/service.ts';
import type { FilledProject } from './doomed-project.ts';
import type { Lane } from './lane.ts';
import { shareOf } from './share-of.ts';
import type { Mark } from './strikes.ts';
import { startCopy, type Template, templateName } from './template.ts';

export interface DeleteLife {
  isHit: boolean;
  faults: string[];
  calls: TracedCall[];
  /** Whether the delete was carried out, or the kill came before it. */
  isDeleted: boolean;
}

/** Longer than the containers take to end, which are asked to by the first pass. */
const patienceMs = 10_000;

/** Deletes a project in a process that is killed at the mark, if there is one, and has two passes do the rest. */
export async function liveDelete(
  lane: Lane,
  template: Template,
  mark?: Omit<Mark, 'role'>,
): Promise<DeleteLife> {
  const folder = await mkdtemp(join(lane.folder, 'delete-'));
  await using started = new AsyncDisposableStack();
  started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  const engines = await startCopy(started, template, folder);
  const environment = environmentOf(engines, lane.batchUrl, templateName);
  const service = openService(environment);
  const { doomed, neighbour, token } = template;
  const ids = await submitLive(service, doomed);
  const others = await submitLive(service, neighbour);
  started.defer(() => endAll(service, [...ids, ...others]));
  const before = await service.inventory(template.objects);
  const trace = join(folder, 'trace');
  await writeFile(trace, '');
  const kill = mark && { at: mark.at, when: mark.when, signal: 'SIGKILL' as const };
  const given = { path: { project_id: doomed.project_id }, token, pause: 300 };
  const plan = { trace, ...(kill && { kill }) };
  const { signal, code, errors } = await startProgram(lane.program, 'delete', given, environment, plan).ended;
  const faults = signal === null && code !== 0 ? [`the delete ended with ${code}: ${errors}`] : [];
  const isDeleted = (await service.records.get(projectKey(doomed.project_id))) === undefined;
  if (isDeleted) {
    await pass(service);
    await ended(service, ids);
    await pass(service);
  }
  const after = await service.inventory();
  if (isDeleted) {
    faults.push(...(await findFaults(service, template, ids, { before, after })));
    await pass(service, uploadSeconds + 60);
    const { items } = await listPurges(service.records, undefined);
    if (items.length > 0) faults.push('stale: the purge is kept for ever');
  } else {
    const change = changeOf(after, before, doomed);
    if (change !== undefined) faults.push(`lost: of a project that nobody has deleted: ${change}`);
  }
  if ((await alive(service, others)) !== others.length) faults.push('a neighbour has lost its job');
  const touched = changeOf(after, before, neighbour);
  if (touched !== undefined) faults.push(`a neighbour was touched: ${touched}`);
  const lines = (await readFile(trace, 'utf8')).split('\n').filter((line) => line !== '');
  return { isHit: signal === 'SIGKILL', faults, calls: lines.map((line) => JSON.parse(line)), isDeleted };
}

/** Hands the live jobs to Batch and notes that in their records, as it is noted in life. Answers the Batch jobs. */
async function submitLive({ batch, records, settings }: Service, { project_id, live }: FilledProject) {
  const ids: string[] = [];
  for (const { experiment, isSubmitted } of live) {
    if (!isSubmitted) continue;
    const { kind, experiment_id, vcpus, memory, gpus, timeout } = experiment;
    const size = { environment: {}, vcpus, memory, gpus, timeout };
    let depends_on: string | null = null;
    if (kind === 'train-remote') {
      depends_on = await batch.submit({ ...size, ...settings.train, name: `build-${experiment_id}` });
      ids.push(depends_on);
    }
    const id: string = await batch.submit({
      ...size,
      ...(kind === 'train-remote' ? settings.cluster : settings.train),
      name: `${kind}-${experiment_id}`,
      ...(depends_on !== null && { dependsOn: [depends_on], nodes: 2 }),
    });
    ids.push(id);
    const set = { batch_job_id: id, depends_on };
    await records.write({ update: experimentKey(project_id, experiment_id), change: { set } });
  }
  return ids;
}

const hasEnded = (status: string): boolean => status === 'SUCCEEDED' || status === 'FAILED';

async function alive({ batch }: Service, ids: readonly string[]): Promise<number> {
  const jobs = await batch.describe(ids);
  return jobs.filter(({ status }) => !hasEnded(status)).length;
}

async function ended(service: Service, ids: readonly string[]): Promise<void> {
  const until = performance.now() + patienceMs;
  while ((await alive(service, ids)) > 0 && performance.now() < until) await sleep(15);
}

async function endAll(service: Service, ids: readonly string[]): Promise<void> {
  for (const { id, status } of await service.batch.describe(ids)) {
    if (!hasEnded(status)) await service.batch.terminate(id, 'The life is over.');
  }
  await ended(service, ids);
}

const namesOf = ({ project_id, experiments }: FilledProject): string[] => [project_id, ...experiments];

/** What of a project is not what it was; undefined where nothing is. */
function changeOf(now: Inventory, before: Inventory, project: FilledProject): string | undefined {
  const present = new Set(shareOf(now, namesOf(project)));
  const [changed] = present.symmetricDifference(new Set(shareOf(before, namesOf(project))));
  return changed?.slice(0, 1000);
}

/** Everything that must not be after a delete that was carried out and two passes. */
async function findFaults(
  service: Service,
  { doomed }: Template,
  ids: readonly string[],
  { before, after }: { before: Inventory; after: Inventory },
): Promise<string[]> {
  const { batch, settings } = service;
  const records = after.records.filter((item) => item.pk !== 'PURGES' && !isAuditItem(item));
  const left = shareOf({ ...after, records }, namesOf(doomed));
  // What a reconciler submitted without living to note it.
  const strays = await Promise.all(
    doomed.live.map(({ experiment }) =>
      batch.findByName(settings.train.queue, `train-${experiment.experiment_id}`),
    ),
  );
  const jobs = [...ids, ...strays.filter((id) => id !== undefined)];
  const known = new Set(findOrphans(before).map(({ where }) => where));
  return [
    ...(left.length === 0 ? [] : [`orphan: ${left.length} things, such as ${left[0]?.slice(0, 300)}`]),
    ...findOrphans(after)
      .filter(({ where }) => !known.has(where))
      .map(({ kind, where, why }) => `${kind}: ${where}: ${why}`),
    ...((await alive(service, jobs)) > 0 ? ['stale: a Batch job of a deleted project runs'] : []),
  ];
}
