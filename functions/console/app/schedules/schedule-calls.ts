import type { RequestOf, RowOf } from '../../../../shared/client/route.ts';
import type { endpoint as deleteSchedule } from '../../../projects/schedules/delete-schedule.endpoint.ts';
import type { endpoint as listSchedules } from '../../../projects/schedules/list-schedules.endpoint.ts';
import type { endpoint as pauseSchedule } from '../../../projects/schedules/pause-schedule.endpoint.ts';
import type { endpoint as resumeSchedule } from '../../../projects/schedules/resume-schedule.endpoint.ts';
import type { endpoint as updateSchedule } from '../../../projects/schedules/update-schedule.endpoint.ts';
import { all, call } from '../api/calls.ts';

export type Schedule = RowOf<typeof listSchedules>;
export type ScheduleChange = NonNullable<RequestOf<typeof updateSchedule>['body']>;

const at = '/projects/{project_id}/schedules/{schedule_id}' as const;
const pathOf = ({ project_id, schedule_id }: Schedule) => ({ path: { project_id, schedule_id } });

export const loadSchedules = (project_id: string): Promise<Schedule[]> =>
  all<typeof listSchedules>('GET /projects/{project_id}/schedules', { path: { project_id } });

export const pauseOne = (one: Schedule) => call<typeof pauseSchedule>(`POST ${at}/pause`, pathOf(one));

export const resumeOne = (one: Schedule) => call<typeof resumeSchedule>(`POST ${at}/resume`, pathOf(one));

export const changeOne = (one: Schedule, body: ScheduleChange) =>
  call<typeof updateSchedule>(`PATCH ${at}`, { ...pathOf(one), body });

export const removeOne = (one: Schedule) => call<typeof deleteSchedule>(`DELETE ${at}`, pathOf(one));
