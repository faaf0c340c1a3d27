import * as z from 'zod';
import { FileId } from '../core/formats.ts';
import { line, paragraphOrBlank } from '../core/text/text-rules.ts';
import { TrackedName } from '../data/experiments/tracking-rules.ts';
import { sizeRange } from '../data/jobs/size-range.ts';
import { ExactScalar } from '../data/projects/exact-number.ts';
import { CriterionGoal } from '../data/projects/project-rules.ts';
import { RunRules } from '../data/projects/run-rules.ts';
import { checkedTogether, decimalAbove, flag, integer } from '../http/definition/parameters.ts';
import { sizeParameters } from '../jobs/size.ts';
import { maxParallel, maxRepeats, maxTrials } from './spec/limits.ts';
import { SweepParameter } from './spec/parameter.ts';
import { faultsOfSweep } from './spec/sweep-faults.ts';

/** Fields of a sweep's file and of the request that begins it. */
export const sweepFields = {
  name: line(128).optional().describe('Name for people, such as `learning rate and depth`.'),
  note: paragraphOrBlank(10_000).optional().describe('Note, in Markdown.'),
  config: FileId.optional().describe(
    'File name of the configuration whose values the parameters replace, such as `train.yaml`. Required unless `args` is true.',
  ),
  args: flag
    .default(false)
    .describe('Whether the parameters are flags of the command, such as `--learning-rate 0.01`, instead.'),
  metric: TrackedName.optional().describe(
    "Metric that ranks the trials, such as `val_loss`. Default: the project's criterion.",
  ),
  goal: CriterionGoal.optional().describe(
    'Whether a higher or a lower value is better. Default: as usual for the metric.',
  ),
  method: z
    .enum(['grid', 'random', 'sobol', 'tpe', 'external'], 'must be grid, random, sobol, tpe or external')
    .default('tpe')
    .describe(
      '`grid`: all values of all parameters. `random`: independent of each other. `sobol`: evenly spread. `tpe`: near the best so far. `external`: a client asks for each trial.',
    ),
  seed: integer(0, Number.MAX_SAFE_INTEGER)
    .default(0)
    .describe('The same seed makes the same trials. Default: 0.'),
  parameters: z
    .record(TrackedName, SweepParameter)
    .default({})
    .describe('What the trials differ in, by path in the configuration, such as `optimizer.lr`.'),
  start: z
    .array(z.record(TrackedName, ExactScalar))
    .max(maxTrials, `must hold at most ${maxTrials} trials`)
    .default([])
    .describe('Values of the first trials. The method chooses the values that a trial leaves out.'),
  trials: integer(1, maxTrials)
    .optional()
    .describe('Number of configurations. Default with `grid`: all points. Otherwise required.'),
  repeats: integer(1, maxRepeats)
    .default(1)
    .describe('Experiments of each configuration. Their mean ranks it. Default: 1.'),
  repeat_seed: TrackedName.optional().describe(
    'Path of the configuration value that is set to the number of the repeat (1, 2, …), such as `seed`. Without it, the variable SEED has the number.',
  ),
  parallel: integer(1, maxParallel).default(1).describe('Maximum number of experiments at once. Default: 1.'),
  stop: z
    .strictObject(
      {
        rule: z
          .enum(['asha', 'median'], 'must be asha or median')
          .describe(
            '`asha`: at each rung the best share goes on. `median`: trials whose best value is worse than the median of the others end.',
          ),
        step_min: integer(1, 1_000_000_000)
          .default(1)
          .describe('Step of the metric at which trials are compared first. Default: 1.'),
        reduction: z
          .number('must be a number from 2 to 100')
          .min(2, 'must be a number from 2 to 100')
          .max(100, 'must be a number from 2 to 100')
          .default(3)
          .describe(
            'With `asha`: one of so many trials goes on, and the next rung lies at so many times the steps. Default: 3.',
          ),
      },
      { error: 'is not known here; allowed are rule, step_min, reduction' },
    )
    .optional()
    .describe('Rule that ends bad trials early. Default: none.'),
  retries: integer(0, 10)
    .default(0)
    .describe('How often a failed trial is tried again. A lost host does not count. Default: 0.'),
  budget: decimalAbove(0, 1_000_000)
    .optional()
    .describe('Most that the sweep may cost, in US$, such as `5`.'),
  until: z
    .strictObject(
      { metric: z.number('must be a number').describe('Value of the metric that is good enough.') },
      { error: 'is not known here; allowed is metric' },
    )
    .optional()
    .describe('What ends the sweep before its last trial.'),
  rules: RunRules.optional().describe(
    'Rules of each experiment, besides those of the project, such as `[{"nan": "loss", "do": "stop"}]`.',
  ),
  ...sizeParameters,
  nodes: integer(...sizeRange.nodes)
    .optional()
    .describe('Nodes of each experiment; a cluster from 2 on.'),
};

/** Schema of a sweep's file and of the request that begins it. It reports all faults at once. */
export const SweepSpec = checkedTogether(z.strictObject(sweepFields), faultsOfSweep).meta({
  examples: [
    {
      name: 'learning rate',
      config: 'train.yaml',
      metric: 'val_loss',
      method: 'tpe',
      parameters: { learning_rate: { min: 0.0001, max: 0.1, scale: 'log' } },
      trials: 20,
      parallel: 4,
    },
  ],
});
export type SweepSpec = z.output<typeof SweepSpec>;
