import type { AnswerOf, RequestOf, RowOf } from '../../../../shared/client/route.ts';
import type { endpoint as cancelSweep } from '../../../projects/sweeps/cancel-sweep.endpoint.ts';
import type { endpoint as createSweep } from '../../../projects/sweeps/create-sweep.endpoint.ts';
import type { endpoint as deleteSweep } from '../../../projects/sweeps/delete-sweep.endpoint.ts';
import type { endpoint as estimateSweep } from '../../../projects/sweeps/estimate-sweep.endpoint.ts';
import type { endpoint as listSweeps } from '../../../projects/sweeps/list-sweeps.endpoint.ts';
import type { endpoint as listTrials } from '../../../projects/sweeps/list-trials.endpoint.ts';
import type { endpoint as pauseSweep } from '../../../projects/sweeps/pause-sweep.endpoint.ts';
import type { endpoint as readSweep } from '../../../projects/sweeps/read-sweep.endpoint.ts';
import type { endpoint as resumeSweep } from '../../../projects/sweeps/resume-sweep.endpoint.ts';
import type { endpoint as retrySweep } from '../../../projects/sweeps/retry-sweep.endpoint.ts';
import type { endpoint as updateSweep } from '../../../projects/sweeps/update-sweep.endpoint.ts';
import { call, page } from './calls.ts';

export type Sweep = AnswerOf<typeof readSweep>;
export type TrialRow = RowOf<typeof listTrials>;
export interface SweepPath {
  project_id: string;
  sweep_id: string;
}

const at = '/projects/{project_id}/sweeps/{sweep_id}' as const;

export const sweepsPage = (project_id: string, limit: number, next?: string) =>
  page<typeof listSweeps>(
    'GET /projects/{project_id}/sweeps',
    { path: { project_id }, query: { limit } },
    next,
  );

export const loadSweep = (path: SweepPath): Promise<Sweep> => call<typeof readSweep>(`GET ${at}`, { path });

export const trialsPage = (path: SweepPath, limit: number, next?: string) =>
  page<typeof listTrials>(`GET ${at}/trials`, { path, query: { limit } }, next);

type SweepChange = NonNullable<RequestOf<typeof updateSweep>['body']>;

export const changeSweep = (path: SweepPath, body: SweepChange): Promise<Sweep> =>
  call<typeof updateSweep>(`PATCH ${at}`, { path, body });

export const pause = (path: SweepPath): Promise<Sweep> =>
  call<typeof pauseSweep>(`POST ${at}/pause`, { path });
export const resume = (path: SweepPath): Promise<Sweep> =>
  call<typeof resumeSweep>(`POST ${at}/resume`, { path });
export const retry = (path: SweepPath): Promise<Sweep> =>
  call<typeof retrySweep>(`POST ${at}/retry`, { path });
export const cancel = (path: SweepPath): Promise<Sweep> =>
  call<typeof cancelSweep>(`POST ${at}/cancel`, { path });
export const remove = (path: SweepPath) => call<typeof deleteSweep>(`DELETE ${at}`, { path, query: {} });

const sweepsRoute = '/projects/{project_id}/sweeps' as const;
/** Request that begins a sweep. */
export type SweepRequest = NonNullable<RequestOf<typeof createSweep>['body']>;
export type SweepEstimate = AnswerOf<typeof estimateSweep>;

export const estimateSweepCost = (project_id: string, body: SweepRequest): Promise<SweepEstimate> =>
  call<typeof estimateSweep>(`POST ${sweepsRoute}/estimate`, { path: { project_id }, body });

export const beginSweep = (project_id: string, body: SweepRequest): Promise<Sweep> =>
  call<typeof createSweep>(`POST ${sweepsRoute}`, { path: { project_id }, body });
