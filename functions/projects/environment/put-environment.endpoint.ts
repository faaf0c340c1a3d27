import { placeholderList } from '../../../shared/command/placeholders.ts';
import { badRequest } from '../../../shared/core/service-error.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import { findEnvironmentToReplace, putEnvironment } from '../../../shared/data/projects/environment.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { deploymentFaults } from '../../../shared/runner/training/environment-faults.ts';
import { EnvironmentAnswer, environmentQuery } from './environment.ts';

export const endpoint = defineEndpoint({
  name: 'putEnvironment',
  method: 'PUT',
  path: '/projects/{project_id}/environment',
  summary: 'Set the command and the environment of a project',
  description: `\`entry_point_command\` is split into arguments as a shell would and run without one. ${placeholderList} in it are replaced, \`{optimizer.lr}\` by that value of the configuration, and \`{args}\` by all its values as \`--name=value\`; \`$NAME\` is refused. Variables are expanded in \`bash -c '…'\`; \`{{name}}\` is the text \`{name}\`. \`dependencies\` are requirement lines (python; also \`-r file\`, \`-c file\`, \`-e .\`, \`--hash\`, \`--pre\`, \`python>=3.11\` for the interpreter, and \`--index-url\`, \`--extra-index-url\` and \`--find-links\` with hosts that the deployment allows), npm packages (node) or an image (docker); blank, \`-\` or \`none\` installs nothing. The same values once more change nothing.`,
  allow: 'developer',
  project: 'developer',
  right: 'run',
  audit: { fields: ['entry_point_command', 'env_type', 'dependencies'] },
  needs: { records: writeRecords },
  input: {
    path: projectPath,
    query: environmentQuery,
  },
  output: { 200: EnvironmentAnswer },
  problems: ['conflict', 'precondition-failed'],
  etag: true,

  async handle({ query }, context) {
    const { records, now, settings } = context;
    const faults = deploymentFaults(query, settings);
    if (faults.length > 0) throw badRequest(faults.map((fault) => ({ in: 'query', ...fault })));
    return changeInProject(context, async ({ project_id }) => {
      const previous = await findEnvironmentToReplace(records, project_id);
      requirePrecondition(context, previous?.version);
      const resolved = previous?.env_type === query.env_type && previous.dependencies === query.dependencies;
      if (resolved && previous.entry_point_command === query.entry_point_command) {
        return Reply.json(previous, { version: previous.version });
      }
      context.noteAudit({ before: previous });
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
