import type { RequestOf, RowOf } from '../../../../shared/client/route.ts';
import type { endpoint as deleteSchedule } from '../../../projects/schedules/delete-schedule.endpoint.ts';
import type { endpoint as listSchedules } from '../../../projects/schedules/list-schedules.endpoint.ts';
import type { endpoint as pauseEndpoint } from '../../../projects/schedules/pause-schedule.endpoint.ts';
import type { endpoint as resumeEndpoint } from '../../../projects/schedules/resume-schedule.endpoint.ts';
import type { endpoint as updateSchedule } from '../../../projects/schedules/update-schedule.endpoint.ts';
import { all, call } from '../api/calls.ts';

export type Schedule = RowOf<typeof listSchedules>;
export type ScheduleChange = NonNullable<RequestOf<typeof updateSchedule>['body']>;

const at = '/projects/{project_id}/schedules/{schedule_id}' as const;
const pathOf = ({ project_id, schedule_id }: Schedule) => ({ path: { project_id, schedule_id } });

export const loadSchedules = (project_id: string): Promise<Schedule[]> =>
  all<typeof listSchedules>('GET /projects/{project_id}/schedules', { path: { project_id } });

export const pauseSchedule = (schedule: Schedule) =>
  call<typeof pauseEndpoint>(`POST ${at}/pause`, pathOf(schedule));

export const resumeSchedule = (schedule: Schedule) =>
  call<typeof resumeEndpoint>(`POST ${at}/resume`, pathOf(schedule));

export const changeSchedule = (schedule: Schedule, body: ScheduleChange) =>
  call<typeof updateSchedule>(`PATCH ${at}`, { ...pathOf(schedule), body });

export const removeSchedule = (schedule: Schedule) =>
  call<typeof deleteSchedule>(`DELETE ${at}`, pathOf(schedule));
