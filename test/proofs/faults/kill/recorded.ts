import { ulid } from 'ulid';
import { endpoint as createProject } from '../../../../functions/projects/projects/create-project.endpoint.ts';
import { isoTime } from '../../../../shared/core/formats.ts';
import { markNew } from '../../../../shared/data/experiments/catalogue-mark.ts';
import { putExperiment } from '../../../../shared/data/experiments/experiment.ts';
import { foldCatalogue } from '../../../../shared/data/experiments/fold-catalogue.ts';
import { logPoints } from '../../../../shared/data/experiments/log-points.ts';
import type { MetricPoint } from '../../../../shared/data/metrics/metric-summary.ts';
import { count } from '../../../../shared/data/projects/project.ts';
import { experimentOf } from '../../../support/experiment.ts';
import { must } from '../world/ask.ts';
import type { Service } from '../world/service.ts';
import { asking, type StoryGround, told } from './request-story.ts';

/** What stories begin with. */

const described = {
  'project-name': 'story',
  'project-description': 'Of a story',
  'project-type': 'tabular',
  'project-task': 'classification',
};

/** A new project; answers its id. */
export async function projectOf({ service, token }: StoryGround): Promise<string> {
  return (await must(createProject, service.environment, { query: described, token })).project_id;
}

/** A new project with an experiment that a client records, and the path of that. */
export async function experimentIn(
  ground: StoryGround,
): Promise<{ path: { project_id: string; experiment_id: string }; run_id: string }> {
  const project_id = await projectOf(ground);
  const { token } = ground;
  const asked = asking('createExperiment', { path: { project_id }, token }, { name: 'recorded' });
  const { experiment_id } = await told(ground, asked);
  return { path: { project_id, experiment_id }, run_id: `${project_id}-${experiment_id}` };
}

/** Logs points of two metrics, three in each of so many chunks, numbered from `from`. */
export async function pointsIn(
  { records }: Pick<Service, 'records'>,
  path: { project_id: string; experiment_id: string },
  from: number,
  chunks: number,
): Promise<MetricPoint[]> {
  const points: MetricPoint[] = [];
  for (let sequence = from; sequence < from + chunks; sequence += 1) {
    const chunk = [0, 1, 2].map((at): MetricPoint => {
      const step = sequence * 3 + at;
      return { name: step % 2 === 0 ? 'loss' : 'auc', value: 1 / (1 + step), step, time: timeOf(step) };
    });
    points.push(...chunk);
    await logPoints(records, path, chunk);
  }
  return points;
}

export const timeOf = (step: number): number => 1_770_000_000_000 + step * 1000;

/** Experiments that have ended, with marks, `folded` of them in segments; answers the ids of all. */
export async function endedIn(
  { records }: Pick<Service, 'records'>,
  project_id: string,
  marked: number,
  folded = 0,
): Promise<string[]> {
  const record = async (number: number) => {
    const made = Array.from({ length: number }, () => ({
      ...experimentOf(project_id, null),
      kind: 'logged' as const,
      status: 'SUCCEEDED' as const,
      status_rank: 6,
      limit_share: null,
      stopped_at: isoTime(timeOf(0)),
      experiment_id: ulid().toLowerCase(),
    }));
    for (let at = 0; at < made.length; at += 40) {
      const some = made.slice(at, at + 40);
      await records.write(
        ...some.flatMap((one) => [putExperiment(one), markNew(project_id, one.experiment_id)]),
        count(project_id, { experiments: some.length }),
      );
    }
    return made.map(({ experiment_id }) => experiment_id);
  };
  const ids = folded === 0 ? [] : await record(folded);
  // The first fold finds out that there is nothing of earlier releases.
  await foldCatalogue(records, project_id, { milliseconds: 0, least: 1000 });
  while (folded > 0 && (await hasMarks(records, project_id)))
    await foldCatalogue(records, project_id, { milliseconds: 0, least: 1 });
  return [...ids, ...(await record(marked))];
}

const hasMarks = async (records: Service['records'], project_id: string): Promise<boolean> =>
  (await records.query({ pk: `CATALOGUE#${project_id}`, prefix: 'TAIL#', limit: 1 })).items.length > 0;
