import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { badRequest, ServiceError } from '../../../shared/core/service-error.ts';
import { findExperiment } from '../../../shared/data/experiments/experiment.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import { readCriterion } from '../../../shared/data/projects/inferred-criterion.ts';
import { updateProject } from '../../../shared/data/projects/project.ts';
import {
  CriterionGoal,
  CriterionName,
  ProjectDescription,
  ProjectName,
  ProjectTask,
  ProjectType,
} from '../../../shared/data/projects/project-rules.ts';
import { listProjectReports, maxReports } from '../../../shared/data/projects/report.ts';
import { RunRules } from '../../../shared/data/projects/run-rules.ts';
import { type TableView, TableViews } from '../../../shared/data/projects/table-view.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { changedCriterion } from './change-criterion.ts';
import { ProjectAnswer, showProject } from './project-answer.ts';

const Change = z
  .strictObject({
    project_name: ProjectName.optional().describe('New display name.'),
    project_description: ProjectDescription.optional().describe('Description of the project.'),
    project_type: ProjectType.optional().describe('Kind of the data or of the model.'),
    project_task: ProjectTask.optional().describe('Task of the model, such as `classification`.'),
    criterion: CriterionName.nullable()
      .optional()
      .describe(
        'Metric that ranks the experiments, such as `val_acc`. Separators and case do not matter, nor whether `val`, `test` or `train` is a prefix or a suffix. A criterion of GET /projects/criteria, such as `accuracy`, matches all its names, validation data first. Null means that the task, or the first run, determines the criterion.',
      ),
    criterion_goal: CriterionGoal.optional().describe(
      'Direction of the criterion; required unless GET /projects/criteria lists its name.',
    ),
    rules: RunRules.optional().describe(
      'Rules under which its later runs begin, such as `[{"nan": "loss", "do": "stop"}]`. They replace the present ones; an empty list removes them.',
    ),
    views: TableViews.optional().describe(
      'Saved views of its experiments. They replace the present ones; an empty list removes them.',
    ),
    baseline: Ulid.nullable()
      .optional()
      .describe('Experiment of the project that the console compares the others with. Null removes it.'),
  })
  .meta({ minProperties: 1 });

export const endpoint = defineEndpoint({
  name: 'updateProject',
  method: 'PATCH',
  path: '/projects/{project_id}',
  summary: 'Change a project',
  description:
    'Changes the given fields, at least one, and no others. A new criterion applies at once to all experiments, including those that have ended.',
  allow: 'developer',
  project: 'developer',
  audit: {
    fields: [
      'project_name',
      'project_description',
      'project_type',
      'project_task',
      'criterion',
      'criterion_goal',
      'rules',
      'baseline',
    ],
  },
  needs: { records: writeRecords },
  input: { path: projectPath, body: fields(Change) },
  output: { 200: ProjectAnswer },
  problems: ['not-found', 'conflict', 'precondition-failed', 'too-large', 'unsupported-media-type'],
  etag: true,

  async handle({ body }, context) {
    const { records, now } = context;
    const { project_name, project_description, project_type, project_task, rules, views, baseline } = body;
    const criterion = changedCriterion(body);
    const change = {
      ...(project_name !== undefined && { project_name }),
      ...(project_description !== undefined && { project_description }),
      ...(project_type !== undefined && { project_type }),
      ...(project_task !== undefined && { project_task }),
      ...(rules !== undefined && { rules }),
      ...(views !== undefined && { views }),
    };
    if (Object.keys(change).length === 0 && criterion === undefined && baseline === undefined) {
      const message = `must have at least one of ${Object.keys(Change.shape).join(', ')}`;
      throw badRequest([{ in: 'body', name: 'body', message }]);
    }
    // Its version is compared, so it must not be a second old.
    const project = await context.projectNow();
    return changeInProject({ project, projectNow: context.projectNow }, async (present) => {
      requirePrecondition(context, present.version);
      context.noteAudit({ before: present });
      if (baseline != null && (await findExperiment(records, present.project_id, baseline)) === undefined)
        throw badRequest([{ in: 'body', name: 'baseline', message: 'names no experiment of the project' }]);
      if (views !== undefined) await requireShownViews(records, present.project_id, views);
      const at = now();
      const removable = {
        ...(criterion !== undefined && { criterion }),
        ...(baseline !== undefined && { baseline }),
      };
      await updateProject(records, present, { ...change, ...removable }, at);
      const { criterion: former, ...rest } = present;
      const named = criterion === undefined ? former : (criterion ?? undefined);
      const changed = {
        ...rest,
        ...change,
        ...(named !== undefined && { criterion: named }),
        updated_at: at.toISOString(),
        version: present.version + 1,
      };
      const judgedBy = await readCriterion(records, present.project_id);
      return Reply.json(showProject(changed, judgedBy), { version: changed.version });
    });
  },
});

/** @throws ServiceError `conflict` if a report shows a view that would be removed */
async function requireShownViews(
  records: TableReader<'records'>,
  project_id: string,
  views: readonly TableView[],
): Promise<void> {
  const { items } = await listProjectReports(records, project_id, { limit: maxReports, after: undefined });
  const names = new Set(views.map(({ name }) => name));
  for (const { title, views: shown } of items) {
    const gone = shown.find((name) => !names.has(name));
    if (gone === undefined) continue;
    throw new ServiceError(
      'conflict',
      `The view ${JSON.stringify(gone)} is shown in the report ${JSON.stringify(title)}. Remove it from the report first.`,
    );
  }
}
