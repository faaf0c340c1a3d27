import type { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import { connect } from '../../login/connect.ts';
import { command } from '../command.ts';
import { choice, json } from '../flags.ts';

export const projectsCommand = command({
  brief: 'List your projects and those shared with you',
  help: 'The newest come first.\n\nExamples:\n  mps projects\n  mps projects --all --json',
  flags: { all: choice('List all that you may read, not only your own and those shared with you'), json },
  async run({ all = false, json: isJson }) {
    const { client } = await connect(this.env);
    const query = { limit: 1000, ...(!all && { member: true }) };
    const rows = client.rows<typeof listProjects>('GET /projects/', { query });
    await this.printer.list(rows, isJson, ['PROJECT', 'OWNER', 'RANKED BY', 'CREATED', 'ID'], (row) => {
      const { project_name, owner, criterion, created_at, project_id } = row;
      return [project_name, owner ?? '-', criterion, created_at.slice(0, 10), project_id];
    });
  },
});
