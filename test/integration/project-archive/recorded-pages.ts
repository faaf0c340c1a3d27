import { createHash } from 'node:crypto';
import { newId } from '../../../shared/core/new-id.ts';
import { requireProject } from '../../../shared/data/projects/project.ts';
import { putSchedule, putScheduleConfig, type Schedule } from '../../../shared/data/schedules/schedule.ts';
import { storeReport } from '../../../shared/reports/store-report.ts';
import type { ArchiveTools } from './archive-lab.ts';

const at = '2026-02-03T04:05:06.007Z';

/** The lines of a block of a report. */
export const block = (kind: string, ...lines: readonly string[]): string =>
  `\`\`\`mps ${kind}\n${lines.join('\n')}\n\`\`\`\n`;

/** Records a report of a project as a request does. @returns its id */
export async function recordReport(
  { records, user, service: { accounts } }: ArchiveTools,
  project_id: string,
  title: string,
  text: string,
): Promise<string> {
  const report_id = newId();
  const own = { report_id, title, updated_by: user.user_id, created_at: at, version: 1 };
  const reading = { records, accounts, now: () => new Date() };
  await storeReport(reading, await requireProject(records, project_id), own, { text });
  return report_id;
}

const content = Buffer.from('lr: 0.1\n');

/** Records a schedule that is active, and due long ago. @returns its id */
export async function recordSchedule(
  { records, user }: ArchiveTools,
  project_id: string,
  change: Partial<Schedule> = {},
): Promise<string> {
  const schedule: Schedule = {
    ...{ schedule_id: newId(), project_id, user_id: user.user_id, username: user.username },
    ...{ name: 'nightly', cron: '0 3 * * 1-5', zone: 'Europe/Berlin', overlap: 'queue', budget: 2.5 },
    rules: [{ nan: 'loss', do: 'stop' }],
    inputs: {
      ...{ kind: 'train', vcpus: 1, memory: 2048, gpus: 0, nodes: 1, timeout: 60 },
      capacity: 'on-demand',
      ...{ config_id: 'train.yaml', config_version: 1 },
      config_sha256: createHash('sha256').update(content).digest('hex'),
      ...{ source_sha256: null, source_size: 0 },
      ...{ dataset: 'digits', dataset_sha256: null, dataset_is_archive: false },
      environment: {
        ...{ entry_point_command: 'python3 train.py', env_type: 'system', dependencies: 'none', version: 1 },
      },
    },
    ...{ status: 'ACTIVE', status_reason: null, next_at: at, waiting: null, running: null },
    ...{ failures: 2, starts: 7 },
    recent: [{ due_at: at, at, missed: 0, result: 'skipped', experiment_id: null, reason: 'too late' }],
    ...{ created_at: at, updated_at: at, version: 9 },
    ...change,
  };
  await records.write(...putSchedule(schedule), putScheduleConfig(schedule, content));
  return schedule.schedule_id;
}

/** Records a report and a schedule. The report shows an experiment if there is one. */
export async function recordPages(
  lab: ArchiveTools,
  project_id: string,
  experiment_id: string | undefined,
): Promise<void> {
  const named = experiment_id ?? '';
  const shown = [
    block('table', `experiments: ${named.toUpperCase()}`, 'column: best', 'frozen: true'),
    block('table', `experiments: ${named}`, 'column: params.lr'),
    block('chart', `experiments: ${named}`, 'metric: loss', 'frozen: true'),
  ];
  const text = `# A ~ page\n${experiment_id === undefined ? '' : shown.join(`of [it](#${named})\n`)}`;
  await recordReport(lab, project_id, 'Rates', text);
  await recordSchedule(lab, project_id);
}
