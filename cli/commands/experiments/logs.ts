import { buildCommand } from '@stricli/core';
import type { endpoint as readLogs } from '../../../functions/experiments/records/read-logs.endpoint.ts';
import type { CliContext } from '../../context.ts';
import { namedExperiment } from '../../experiments/find-experiment.ts';
import { followExperiment, type LogLine, programExitCode } from '../../experiments/follow-experiment.ts';
import { experimentId } from '../arguments.ts';
import { json, project, verbose } from '../flags.ts';

export const logsCommand = buildCommand({
  func: logs,
  parameters: {
    positional: { kind: 'tuple', parameters: [experimentId] },
    flags: {
      follow: {
        kind: 'boolean',
        brief: 'Follow the training until it ends',
        optional: true,
        withNegated: false,
      },
      project,
      json,
      verbose,
    },
    aliases: { f: 'follow', p: 'project' },
  },
  docs: {
    brief: 'Print the log of an experiment',
    fullDescription:
      'With -f, it follows the training and exits with the code of its program. With --json, it prints one JSON object per line of the log.\n\nExamples:\n  mps logs\n  mps logs -f 4k8f',
  },
});

async function logs(
  this: CliContext,
  { follow, project: given, json: isJson }: Flags,
  id?: string,
): Promise<void> {
  const { session, path } = await namedExperiment(this, given, id);
  if (follow) {
    const { stdout } = this.process;
    const onLine = isJson ? (line: LogLine) => void stdout.write(jsonLine(line)) : undefined;
    const { experiment: ended } = await followExperiment(session.client, path, this.printer, onLine);
    this.process.exitCode = programExitCode(ended);
    return;
  }
  const route = 'GET /projects/{project_id}/experiments/{experiment_id}/logs';
  let next: string | undefined;
  do {
    const page = await session.client.page<typeof readLogs>(route, { path }, next);
    for (const line of page.rows) {
      if (isJson) this.process.stdout.write(jsonLine(line));
      else this.printer.line(line.message);
    }
    // A running experiment always has a next page, even an empty one. Stop at an empty page.
    next = page.rows.length === 0 ? undefined : page.next;
  } while (next !== undefined);
}

interface Flags {
  follow?: boolean;
  project?: string;
  json?: boolean;
  verbose?: boolean;
}

const jsonLine = (line: LogLine): string => `${JSON.stringify(line)}\n`;
