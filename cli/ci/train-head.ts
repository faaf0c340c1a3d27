import { basename } from 'node:path';
import type { endpoint as cancelExperiment } from '../../functions/experiments/records/cancel-experiment.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { wait } from '../../shared/client/retry.ts';
import { parseCommand } from '../../shared/command/parse-command.ts';
import { typedValue } from '../../shared/config/set-values/typed-value.ts';
import { errorText } from '../../shared/core/error-text.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import type { Experiment } from '../experiments/experiment.ts';
import { followToEnd } from '../experiments/follow-experiment.ts';
import type { Session } from '../login/connect.ts';
import { runFolder } from '../run/run-folder.ts';
import { ciTag } from './choose-base.ts';
import type { CiPlan } from './ci-file.ts';

/**
 * Train this folder, as often as the file says, and follow the trainings to their end. If the job of CI is cancelled, or one
 * training fails, cancel those that have not ended.
 */
export async function trainHead(
  { folder, printer }: CliContext,
  session: Session,
  plan: CiPlan,
): Promise<Experiment[]> {
  const ending = new AbortController();
  const end = () => ending.abort(new CliError('Interrupted.', exitCodes.interrupted));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
  const { signal } = ending;
  const training = { folder, name: basename(folder) || 'project', printer, signal, onSubmit: () => {} };
  const begun: Experiment[] = [];
  const ended: Experiment[] = [];
  try {
    for (let repeat = 1; repeat <= (plan.repeats ?? 1); repeat += 1) {
      signal.throwIfAborted();
      begun.push(await runFolder(session, optionsOf(plan, repeat), training));
    }
    for (const { project_id, experiment_id } of begun) {
      signal.throwIfAborted();
      const path = { project_id, experiment_id };
      const { experiment } = await followToEnd(session.client, path, { printer, signal });
      ended.push(experiment);
      if (experiment.status !== 'SUCCEEDED') break;
    }
  } finally {
    await cancelAll(session.client, begun.slice(ended.length), printer.say.bind(printer));
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, end);
  }
  return ended;
}

function optionsOf({ run = {}, project, path }: CiPlan, repeat: number) {
  const { command, config, budget, seed } = run;
  return {
    ...(project !== undefined && { project }),
    ...(config !== undefined && { config }),
    words: command === undefined ? [] : parseCommand(command),
    overrides: seed === undefined ? [] : [{ path: seed.split('.'), value: typedValue(String(repeat)) }],
    yes: true,
    budget,
    said: { tags: JSON.stringify({ [ciTag]: path }) },
  };
}

/** Milliseconds within which a cancelled job of CI must have ended, less a margin. */
const cancelMilliseconds = 5_000;

async function cancelAll(
  client: Client,
  left: readonly Experiment[],
  say: (text: string) => void,
): Promise<void> {
  const route = 'POST /projects/{project_id}/experiments/{experiment_id}/cancel';
  const cancelled = left.map(async ({ project_id, experiment_id }) => {
    try {
      await client.call<typeof cancelExperiment>(route, { path: { project_id, experiment_id } });
      say(`Cancelled ${experiment_id}.`);
    } catch (error) {
      say(`${experiment_id} may still run; "mps cancel ${experiment_id}" ends it: ${errorText(error)}`);
    }
  });
  if (cancelled.length > 0) await Promise.race([Promise.all(cancelled), wait(cancelMilliseconds)]);
}
