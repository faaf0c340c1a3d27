import type { AnswerOf } from '../../../../shared/client/route.ts';
import type { endpoint as listMedia } from '../../../experiments/artifacts/list-media.endpoint.ts';
import type { endpoint as readArtifacts } from '../../../experiments/artifacts/read-artifacts.endpoint.ts';
import { call } from './calls.ts';

export type MediaOfExperiment = AnswerOf<typeof listMedia>['experiments'][number];
export type MediaSeries = MediaOfExperiment['series'][number];
export type MediaItem = MediaSeries['items'][number];

/** Experiments of the first request. More of them do not fit on a screen. */
const firstCount = 12;

/** Load the media of experiments, the first ones alone. `onSome` receives all that is there after each request. */
export async function loadMedia(
  project_id: string,
  ids: readonly string[],
  onSome: (media: readonly MediaOfExperiment[]) => void,
  signal: AbortSignal,
): Promise<MediaOfExperiment[]> {
  const found: MediaOfExperiment[] = [];
  let wanted = [...ids];
  while (wanted.length > 0 && !signal.aborted) {
    const asked = wanted.splice(0, found.length === 0 ? firstCount : wanted.length);
    const { experiments, left } = await call<typeof listMedia>('GET /projects/{project_id}/media', {
      path: { project_id },
      query: { experiments: asked.join(',') },
    });
    found.push(...experiments);
    wanted = [...left, ...wanted];
    onSome([...found]);
    if (wanted.length > 0) await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return found;
}

export interface FileOfExperiment {
  experiment_id: string;
  path: string;
}
export type ReadFile = AnswerOf<typeof readArtifacts>['artifacts'][number];

/** Read several small files with one request. */
export const readFiles = (project_id: string, artifacts: readonly FileOfExperiment[]): Promise<ReadFile[]> =>
  call<typeof readArtifacts>('POST /projects/{project_id}/artifacts/read', {
    path: { project_id },
    body: { artifacts: [...artifacts] },
  }).then((answer) => answer.artifacts);
