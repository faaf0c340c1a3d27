import { consoleLink, consoleOf } from '../../shared/client/console-link.ts';
import { namedExperiment } from '../experiments/find-experiment.ts';
import { chosenLogin } from '../login/connect.ts';
import { openInBrowser } from '../output/open-in-browser.ts';
import { experimentId } from './arguments.ts';
import { command } from './command.ts';
import { project } from './flags.ts';

export const openCommand = command({
  brief: 'Open the console in a browser',
  help: 'Prints the address and opens it in a browser (BROWSER selects another).\n\nExamples:\n  mps open\n  mps open latest',
  args: [{ ...experimentId, brief: 'Experiment to show' }],
  flags: { project },
  async run({ project: given }, id) {
    let page = consoleOf((await chosenLogin(this.env)).url);
    if (id !== undefined) {
      const { session, path } = await namedExperiment(this, given, id);
      const { project_id, experiment_id } = path;
      page = consoleLink(consoleOf(session.client.url), [
        'projects',
        project_id,
        'experiments',
        experiment_id,
      ]);
    }
    this.printer.line(page);
    if (!(await openInBrowser(page, this.env))) this.printer.say('Open this address in a browser.');
  },
});
