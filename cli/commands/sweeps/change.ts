import type { endpoint as cancelSweep } from '../../../functions/projects/sweeps/cancel-sweep.endpoint.ts';
import type { endpoint as deleteSweep } from '../../../functions/projects/sweeps/delete-sweep.endpoint.ts';
import type { endpoint as pauseSweep } from '../../../functions/projects/sweeps/pause-sweep.endpoint.ts';
import type { endpoint as resumeSweep } from '../../../functions/projects/sweeps/resume-sweep.endpoint.ts';
import type { endpoint as retrySweep } from '../../../functions/projects/sweeps/retry-sweep.endpoint.ts';
import type { endpoint as updateSweep } from '../../../functions/projects/sweeps/update-sweep.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import type { SweepParameter } from '../../../shared/sweeps/spec/parameter.ts';
import { CliError, exitCodes, usageFaults } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import type { Sweep } from '../../sweeps/begin-sweep.ts';
import { namedSweep, type SweepPath } from '../../sweeps/find-sweep.ts';
import { progressText } from '../../sweeps/trial-text.ts';
import { sweepId } from '../arguments.ts';
import { command } from '../command.ts';
import { choice, flagsSet, json, type ProjectFlags, parsed, project, text } from '../flags.ts';
import { dollars } from '../project/budget.ts';
import { swept } from './start.ts';

/** Build the command of an action on a sweep. */
const actionCommand = (
  act: (client: Client, path: SweepPath) => Promise<Sweep>,
  { brief, example }: { brief: string; example: string },
) =>
  command({
    brief,
    help: `Example:\n  ${example}`,
    args: [sweepId],
    flags: { project, json },
    async run(flags, id) {
      const { session, path } = await namedSweep(this, flags.project, id);
      show(this, flags, await act(session.client, path));
    },
  });

const budget = parsed(dollars, 'US$', 'New budget in US$, or none');

function show({ printer }: CliContext, { json: isJson }: ProjectFlags, sweep: Sweep): void {
  if (isJson) printer.json(sweep);
  else
    printer.say(
      `${sweep.sweep_id}  ${progressText(sweep)}${sweep.status_reason === null ? '' : `: ${sweep.status_reason}`}`,
    );
}

const at = 'POST /projects/{project_id}/sweeps/{sweep_id}';

export const pauseCommand = actionCommand(
  (client, path) => client.call<typeof pauseSweep>(`${at}/pause`, { path }),
  { brief: 'Pause a sweep; what runs goes on to its end', example: 'mps sweep pause' },
);

export const resumeCommand = command({
  brief: 'Let a paused sweep go on',
  help: `A sweep that its budget paused goes on with a higher one.

Examples:
  mps sweep resume
  mps sweep resume 4k8f --budget 10`,
  args: [sweepId],
  flags: { budget, project, json },
  async run({ budget: raised, ...flags }, id) {
    const { session, path } = await namedSweep(this, flags.project, id);
    if (raised !== undefined) await patch(session.client, path, { budget: raised.amount });
    show(this, flags, await session.client.call<typeof resumeSweep>(`${at}/resume`, { path }));
  },
});

export const retryCommand = actionCommand(
  (client, path) => client.call<typeof retrySweep>(`${at}/retry`, { path }),
  { brief: 'Begin the failed trainings of a sweep once more', example: 'mps sweep retry' },
);

export const cancelSweepCommand = actionCommand(
  (client, path) => client.call<typeof cancelSweep>(`${at}/cancel`, { path }),
  { brief: 'End a sweep and what runs of it', example: 'mps sweep cancel latest' },
);

const number = (brief: string) => parsed(Number, 'N', brief);

export const extendCommand = command({
  brief: 'Give a sweep more trials, more at once, another budget or wider bounds',
  help: `What it knows stays, and a sweep that has ended runs again. A paused one stays paused until "mps sweep resume".

Examples:
  mps sweep extend --trials 40
  mps sweep extend 4k8f -S learning_rate=1e-5..1:log --parallel 8`,
  args: [sweepId],
  flags: {
    trials: number('New number of configurations in all'),
    parallel: number('Most trainings at once'),
    budget,
    name: text('NAME', 'New name'),
    set: { ...swept, brief: 'Wider bounds or more values of a parameter' },
    project,
    json,
  },
  aliases: { S: 'set', p: 'project' },
  async run({ set = [], budget: money, project: named, json: isJson, verbose: _, ...fields }, id) {
    const fixed = set.find((one) => !('parameter' in one));
    if (fixed !== undefined)
      throw new CliError(
        'Only what the sweep varies can be widened: -S lr=1e-5..1e-1:log, or more values.',
        exitCodes.usage,
      );
    const parameters = Object.fromEntries(
      set.flatMap((one) =>
        'parameter' in one ? [[one.name.replace(/^--?/, ''), one.parameter] as const] : [],
      ),
    );
    const change = {
      ...flagsSet(fields),
      ...(money !== undefined && { budget: money.amount }),
      ...(set.length > 0 && { parameters }),
    };
    if (Object.keys(change).length === 0)
      throw new CliError(
        'Say what to change: --trials, --parallel, --budget, --name or -S with wider bounds.',
        exitCodes.usage,
      );
    const { session, path } = await namedSweep(this, named, id);
    show(this, { json: isJson ?? false }, await patch(session.client, path, change));
  },
});

interface Change {
  name?: string;
  trials?: number;
  parallel?: number;
  budget?: number | null;
  parameters?: Record<string, SweepParameter>;
}

function patch(client: Client, path: SweepPath, body: Change): Promise<Sweep> {
  const route = 'PATCH /projects/{project_id}/sweeps/{sweep_id}';
  return usageFaults(client.call<typeof updateSweep>(route, { path, body }));
}

export const rmSweepCommand = command({
  brief: 'Delete a sweep; what runs of it is cancelled',
  help: 'Examples:\n  mps sweep rm 4k8f\n  mps sweep rm 4k8f --experiments',
  args: [{ brief: 'Sweep to delete', placeholder: 'ID', parse: String }],
  flags: { experiments: choice('Delete its experiments, too'), project, json },
  async run({ experiments = false, project: given, json: isJson }, id) {
    const { session, path } = await namedSweep(this, given, id);
    const route = 'DELETE /projects/{project_id}/sweeps/{sweep_id}';
    const deleted = await session.client.call<typeof deleteSweep>(route, { path, query: { experiments } });
    if (isJson) this.printer.json(deleted);
    else
      this.printer.say(
        `Deleted ${path.sweep_id}. Its experiments ${experiments ? 'go with it' : 'stay; "mps ls" lists them'}.`,
      );
  },
});
