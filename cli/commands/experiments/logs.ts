import type { endpoint as readLogs } from '../../../functions/experiments/records/read-logs.endpoint.ts';
import { refuseBoth } from '../../cli-error.ts';
import { namedExperiment } from '../../experiments/find-experiment.ts';
import { followExperiment, type LogLine, programExitCode } from '../../experiments/follow-experiment.ts';
import { experimentId } from '../arguments.ts';
import { command } from '../command.ts';
import { choice, json, project, text } from '../flags.ts';

export const logsCommand = command({
  brief: 'Print the log of an experiment',
  help: 'With -f, it follows the training or export and exits with the code of its program. With --search, the service searches the whole log, and the number of the lines found goes to stderr. With --json, it prints one JSON object per line of the log.\n\nExamples:\n  mps logs\n  mps logs -f 4k8f\n  mps logs 4k8f --search nan',
  args: [experimentId],
  flags: {
    follow: choice('Follow the training or export until it ends'),
    search: text('TEXT', 'Print only the lines with this text, without case, and their numbers'),
    project,
    json,
  },
  aliases: { f: 'follow', p: 'project', s: 'search' },
  async run({ follow, search, project: given, json: isJson }, id) {
    refuseBoth({ follow, search }, 'Search the lines that come with mps logs -f ID | grep TEXT');
    const { session, experiment, path } = await namedExperiment(this, given, id);
    if (follow) {
      const { stdout } = this.process;
      const onLine = isJson ? (line: LogLine) => void stdout.write(jsonLine(line)) : undefined;
      const what = experiment.model_export == null ? 'training' : 'export';
      const { experiment: ended } = await followExperiment(session.client, path, this.printer, {
        onLine,
        what,
      });
      this.process.exitCode = programExitCode(ended);
      return;
    }
    const route = 'GET /projects/{project_id}/experiments/{experiment_id}/logs';
    let next: string | undefined;
    let matches = 0;
    do {
      const page = await session.client.page<typeof readLogs>(route, { path, query: { search } }, next);
      for (const line of page.rows) {
        // Editors and the console count lines from 1.
        const { message, number = 0 } = line;
        if (isJson) this.process.stdout.write(jsonLine(line));
        else this.printer.line(search === undefined ? message : `${number + 1}: ${message}`);
      }
      matches += page.rows.length;
      // A running experiment always has a next page, even an empty one: stop at that. A page of a search may be empty.
      next = search === undefined && page.rows.length === 0 ? undefined : page.next;
    } while (next !== undefined);
    if (search !== undefined) this.printer.say(matches === 1 ? '1 line' : `${matches} lines`);
  },
});

const jsonLine = (line: LogLine): string => `${JSON.stringify(line)}\n`;
