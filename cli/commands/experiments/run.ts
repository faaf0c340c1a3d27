import { basename } from 'node:path';
import type { Experiment } from '../../experiments/experiment.ts';
import { showToEnd } from '../../experiments/follow-experiment.ts';
import { connect } from '../../login/connect.ts';
import { planFolder } from '../../run/plan-folder.ts';
import { requirePlan } from '../../run/prepare-folder.ts';
import { beginningOf, runFolder } from '../../run/run-folder.ts';
import { showPlan } from '../../run/show-plan.ts';
import { untilSubmitted } from '../../run/until-submitted.ts';
import { command } from '../command.ts';
import {
  choice,
  detach,
  json,
  overrides,
  project,
  root,
  rules,
  runBudget,
  sizes,
  text,
  tracked,
  trackedQuery,
  uploadYes,
} from '../flags.ts';
import { withUsage } from '../with-usage.ts';

export const runCommand = withUsage(
  command({
    brief: 'Upload this folder, train it and follow the training',
    help: `Trains this folder as it is now: creates or finds the project, sets its environment, uploads the files, and follows the log. mps.yaml names the project; without it, the name is that of the folder. Ctrl-C leaves the training running; a second one within two seconds cancels it. It exits with the code of the program.

Rules (--stop-if, --notify-if, "rules" in mps.yaml): "nan: loss", "loss > 10 for 3 evaluations", "accuracy < 0.1 for 30m", "no improvement: val_loss for 10 evaluations", "silent: 30m", "idle: gpu 5 % for 20m". A training that a rule stops gets SIGTERM, and its checkpoints are stored.

Examples:
  mps run
  mps run -- python train.py --epochs 5
  mps run -c train.yaml -S optimizer.lr=0.01 --nodes 2
  mps run --stop-if "nan: loss" --notify-if "no improvement: val_loss for 10 evaluations"
  mps run --name baseline --tag stage=first --note "learning rate of the paper"
  mps run --dry-run
  mps run -d --json`,
    args: [{ brief: 'Command to run, after --', placeholder: 'COMMAND', parse: String, several: 0 }],
    flags: {
      config: text('FILE', 'Configuration to train with (default: train.* or config.*)'),
      entryPoint: text('NAME', 'Entry point of MLproject to run (default: main, or the only one)'),
      set: overrides,
      project,
      root,
      ...sizes,
      ...tracked,
      budget: runBudget,
      ...rules,
      dryRun: choice('Show what would be sent, installed and run, and change nothing'),
      detach,
      yes: uploadYes,
      json,
    },
    aliases: { c: 'config', e: 'entryPoint', S: 'set', p: 'project', d: 'detach', y: 'yes' },
    async run(flags, ...words) {
      const { set = [], detach: isDetached, yes = false, json: isJson, dryRun, verbose: _, ...given } = flags;
      const { name, tag, note, ...rest } = given;
      const said = trackedQuery({ name, tag, note });
      const options = { ...rest, overrides: set, words, yes, said };
      const { printer, folder } = this;
      const session = await connect(this.env);
      const place = { folder, name: basename(folder) || 'project', printer };
      if (dryRun) {
        const { signal } = new AbortController();
        const plan = await planFolder(session, { ...options, yes: true }, { ...place, signal });
        await requirePlan(session, plan, beginningOf(options, plan.projectFile.rules));
        for (const line of await showPlan(plan)) this.process.stdout.write(`${line}\n`);
        return;
      }
      const begun = await untilSubmitted(
        (signal, onSubmit) => runFolder(session, options, { ...place, signal, onSubmit }),
        interruptions,
      );
      await showToEnd(this, session.client, begun, { detach: isDetached, json: isJson });
    },
  }),
  '[-- COMMAND...]',
);

/** Messages after Ctrl-C, before `mps run` follows the training. */
const interruptions = {
  before: 'Interrupted; nothing was submitted.',
  unknown: 'Interrupted during the submission. "mps ls" shows whether the training exists.',
  after: ({ experiment_id: id }: Experiment) =>
    `Interrupted after the submission; the training continues.\nTo follow it: mps logs -f ${id}\nTo cancel it: mps cancel ${id}`,
};
