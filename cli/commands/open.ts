import { buildCommand } from '@stricli/core';
import { consoleLink, consoleOf } from '../../shared/client/console-link.ts';
import type { CliContext } from '../context.ts';
import { namedExperiment } from '../experiments/find-experiment.ts';
import { chosenLogin } from '../login/connect.ts';
import { openInBrowser } from '../output/open-in-browser.ts';
import { experimentId } from './arguments.ts';
import { project, verbose } from './flags.ts';

export const openCommand = buildCommand({
  func: open,
  parameters: {
    positional: { kind: 'tuple', parameters: [{ ...experimentId, brief: 'Experiment to show' }] },
    flags: { project, verbose },
    aliases: { p: 'project' },
  },
  docs: {
    brief: 'Open the console in a browser',
    fullDescription:
      'Prints the address and opens it in a browser (BROWSER selects another).\n\nExamples:\n  mps open\n  mps open latest',
  },
});

async function open(this: CliContext, { project: given }: Flags, id?: string): Promise<void> {
  let page = consoleOf((await chosenLogin(this.env)).url);
  if (id !== undefined) {
    const { session, path } = await namedExperiment(this, given, id);
    const { project_id, experiment_id } = path;
    page = consoleLink(consoleOf(session.client.url), ['projects', project_id, 'experiments', experiment_id]);
  }
  this.printer.line(page);
  if (!(await openInBrowser(page, this.env))) this.printer.say('Open this address in a browser.');
}

interface Flags {
  project?: string;
  verbose?: boolean;
}
