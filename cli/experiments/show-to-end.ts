import type { Client } from '../../shared/client/client.ts';
import type { CliContext } from '../context.ts';
import { numberText, secondsText } from '../output/units.ts';
import { type Experiment, followExperiment, programExitCode } from './follow-experiment.ts';

/**
 * What a command does with an experiment that it has begun: prints its id with `detach`, else follows it and takes the
 * exit code of its program.
 */
export async function showToEnd(
  { printer, process }: CliContext,
  client: Client,
  begun: Experiment,
  { detach, json }: { detach?: boolean | undefined; json?: boolean | undefined },
): Promise<void> {
  const { project_id, experiment_id } = begun;
  if (detach) {
    if (json) printer.json(begun);
    else printer.line(experiment_id);
    return;
  }
  const { experiment: ended, unsaid } = await followExperiment(
    client,
    { project_id, experiment_id },
    printer,
  );
  if (json) printer.json(ended);
  const best = ended.best === null ? '' : `, ${ended.best.criterion} ${numberText(ended.best.value)}`;
  const reason = unsaid === '' ? '' : `: ${unsaid}`;
  printer.say(`${ended.status} in ${secondsText(ended.duration ?? 0)}${best}${reason}`);
  process.exitCode = programExitCode(ended);
}
