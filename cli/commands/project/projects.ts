import { buildCommand } from '@stricli/core';
import type { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import type { CliContext } from '../../context.ts';
import { connect } from '../../login/connect.ts';
import { choice, json, verbose } from '../flags.ts';

async function projects(this: CliContext, { all = false, json: isJson }: Flags): Promise<void> {
  const { client } = await connect(this.env);
  const query = { limit: 1000, ...(!all && { member: true }) };
  const rows: string[][] = [];
  for await (const row of client.rows<typeof listProjects>('GET /projects/', { query })) {
    if (isJson) this.process.stdout.write(`${JSON.stringify(row)}\n`);
    const { project_name, owner, criterion, created_at, project_id } = row;
    rows.push([project_name, owner ?? '-', criterion, created_at.slice(0, 10), project_id]);
  }
  if (!isJson) this.printer.table(['PROJECT', 'OWNER', 'RANKED BY', 'CREATED', 'ID'], rows);
}

export const projectsCommand = buildCommand({
  func: projects,
  parameters: {
    flags: {
      all: choice('List all that you may read, not only your own and those shared with you'),
      json,
      verbose,
    },
  },
  docs: {
    brief: 'List your projects and those shared with you',
    fullDescription: 'The newest come first.\n\nExamples:\n  mps projects\n  mps projects --all --json',
  },
});

interface Flags {
  all?: boolean;
  json?: boolean;
  verbose?: boolean;
}
