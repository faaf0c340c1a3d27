import * as z from 'zod';
import { changeInProject } from '../../shared/data/change-in-project.ts';
import { EnvironmentType, findEnvironment, putEnvironment } from '../../shared/data/environment.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { defineEndpoint } from '../../shared/endpoint/definition.ts';
import { lambda } from '../../shared/endpoint/lambda.ts';
import { paragraph, paragraphOrBlank } from '../../shared/endpoint/parameters.ts';
import { requirePrecondition } from '../../shared/endpoint/precondition.ts';
import { badRequest } from '../../shared/endpoint/problem.ts';
import { Reply } from '../../shared/endpoint/reply.ts';
import { EnvironmentAnswer } from './environment-answer.ts';
import { environmentFaults } from './environment-faults.ts';
import { projectPath } from './project-path.ts';

export const endpoint = defineEndpoint({
  name: 'putEnvironment',
  method: 'PUT',
  path: '/projects/{project_id}/environment',
  summary: 'Say what a project runs, and in what',
  description:
    '`entry_point_command` is split into arguments as a shell would and run without one; `{config}` and `{output_dir}` in it are replaced. `dependencies` are requirement lines (python), npm packages (node) or an image (docker); blank, `-` or `none` installs nothing. The same values once more change nothing.',
  allow: 'developer',
  project: 'own',
  needs: { records: writeRecords },
  input: {
    path: projectPath,
    query: z.strictObject({
      entry_point_command: paragraph(4000).describe(
        'What is run, such as `python train.py --config {config} --out {output_dir}`.',
      ),
      env_type: EnvironmentType.describe(
        'Where it runs: with packages of Python or Node, with what the image has, or in an image of yours.',
      ),
      dependencies: paragraphOrBlank(4000).describe(
        'What is installed, a line each, such as `scikit-learn==1.7.2`.',
      ),
    }),
  },
  output: { 200: EnvironmentAnswer },
  problems: ['conflict', 'precondition-failed'],
  etag: true,

  async handle({ query }, { records, project, now, header, expectedVersion, settings }) {
    const faults = environmentFaults(query, settings);
    if (faults.length > 0) throw badRequest(faults);
    return changeInProject(records, project, async ({ project_id }) => {
      const previous = await findEnvironment(records, project_id);
      requirePrecondition({ header, expectedVersion }, previous?.version);
      const resolved = previous?.env_type === query.env_type && previous.dependencies === query.dependencies;
      if (resolved && previous.entry_point_command === query.entry_point_command) {
        return Reply.json(previous, { version: previous.version });
      }
      const environment = {
        ...query,
        project_id,
        lock_hash: resolved ? previous.lock_hash : null,
        updated_at: now().toISOString(),
        version: (previous?.version ?? 0) + 1,
      };
      await putEnvironment(records, environment, previous);
      return Reply.json(environment, { version: environment.version });
    });
  },
});

export const handler = lambda(endpoint);
