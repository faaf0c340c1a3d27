import { buildCommand } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { namedExperiment } from '../experiments/find-experiment.ts';
import { chosenLogin } from '../login/connect.ts';
import { openInBrowser } from '../output/open-in-browser.ts';
import { experimentId } from './arguments.ts';
import { project, verbose } from './flags.ts';

interface Flags {
  project?: string;
  verbose?: boolean;
}

async function open(this: CliContext, { project: given }: Flags, id?: string): Promise<void> {
  let page = `${(await chosenLogin(this.env)).url}/console`;
  if (id !== undefined) {
    const { session, path } = await namedExperiment(this, given, id);
    page = `${session.client.url}/console#/projects/${path.project_id}/experiments/${path.experiment_id}`;
  }
  this.printer.line(page);
  if (!(await openInBrowser(page, this.env))) this.printer.say('Open this address in a browser.');
}

export const openCommand = buildCommand({
  func: open,
  parameters: {
    positional: { kind: 'tuple', parameters: [{ ...experimentId, brief: 'An experiment to show' }] },
    flags: { project, verbose },
    aliases: { p: 'project' },
  },
  docs: {
    brief: 'Open the console in a browser',
    fullDescription:
      'Prints the address, and opens it where there is a browser (BROWSER names another).\n\nExamples:\n  mps open\n  mps open latest',
  },
});
