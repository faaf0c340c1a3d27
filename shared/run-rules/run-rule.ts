import * as z from 'zod/mini';
import { usualGoal } from '../metrics/criteria.ts';
import { ruleConditions } from './rule-condition.ts';
import { durationOf, percentageOf, spanForms, spanOf } from './rule-span.ts';

const described = <S extends z.ZodMiniType>(schema: S, description: string): S =>
  schema.check(z.describe(description));

/** The message for a part that is no object, or has unknown keys: one sentence says both. */
const known = (form: string) => (issue: { code?: string }) =>
  issue.code === 'invalid_type' || issue.code === 'unrecognized_keys' ? form : undefined;

const unprintable = /[\p{Cc}\p{Cs}]/u;

/** Maximum length of the name of a metric, in characters. */
const maxName = 250;

const metricForm = `must be the name of a metric, of at most ${maxName} characters`;

const Metric = z.string(metricForm).check(z.refine((name) => isName(name), { error: metricForm }));

const isName = (name: string): boolean =>
  name.trim() !== '' && [...name].length <= maxName && !unprintable.test(name);

const textOf = (form: string, isValid: (text: string) => boolean) =>
  z.string(`must be ${form}`).check(z.refine(isValid, { error: `must be ${form}` }));

const Span = textOf(spanForms.span, (text) => spanOf(text) !== undefined);
const Duration = textOf(spanForms.duration, (text) => durationOf(text) !== undefined);

const Percentage = z
  .union([z.string(), z.number()], { error: `must be ${spanForms.percentage}` })
  .check(
    z.refine((value) => percentageOf(value) !== undefined, { error: `must be ${spanForms.percentage}` }),
  );

const Bound = z.strictObject(
  {
    metric: Metric,
    value: z.number('must be a number'),
    for: z.optional(
      described(Span, 'How long: `3 evaluations`, one after another, or a duration. Default: 1 evaluation.'),
    ),
  },
  { error: known('must have metric and value, and may have for') },
);

const goalForm = 'must be maximize or minimize';

const NoImprovement = z
  .strictObject(
    {
      metric: Metric,
      for: described(Span, 'Since the best value: a number of evaluations, or a duration.'),
      goal: z.optional(
        described(
          z.enum(['maximize', 'minimize'], goalForm),
          'What an improvement is. Default: as usual for the name of the metric.',
        ),
      ),
    },
    { error: known('must have metric and for, and may have goal') },
  )
  .check((payload) => {
    const { metric, goal } = payload.value;
    if (goal !== undefined || typeof metric !== 'string' || usualGoal(metric) !== undefined) return;
    const message = `is required: maximize or minimize, because the name ${metric} does not say it`;
    payload.issues.push({ code: 'custom', path: ['goal'], message, input: goal });
  });

const Idle = z
  .strictObject(
    {
      gpu: z.optional(described(Percentage, 'Every GPU is used less than this.')),
      cpu: z.optional(described(Percentage, 'The vCPUs of the job are used less than this.')),
      for: Duration,
    },
    { error: known('must have gpu or cpu, and for') },
  )
  .check((payload) => {
    const { gpu, cpu } = payload.value;
    if ((gpu === undefined) !== (cpu === undefined)) return;
    payload.issues.push({
      code: 'custom',
      path: [],
      message: 'must have either gpu or cpu',
      input: payload.value,
    });
  });

/** A rule of a project or a run, from a request, an archive or `mps.yaml`. */
export const RunRule = z
  .strictObject(
    {
      nan: z.optional(described(Metric, 'The metric is NaN or infinite.')),
      above: z.optional(described(Bound, 'The metric is above a value.')),
      below: z.optional(described(Bound, 'The metric is below a value.')),
      'no improvement': z.optional(described(NoImprovement, 'The metric has not improved.')),
      silent: z.optional(described(Duration, 'The program neither prints nor reports a metric for so long.')),
      idle: z.optional(described(Idle, 'GPUs or vCPUs are idle.')),
      do: described(
        z.enum(['notify', 'stop'], 'must be notify or stop'),
        '`stop` ends the run as a cancel does; `notify` tells the hooks of the project.',
      ),
    },
    { error: known(`must have one of ${ruleConditions.join(', ')}, and do`) },
  )
  .check((payload) => {
    const given = ruleConditions.filter((name) => payload.value[name] !== undefined);
    if (given.length === 1) return;
    const found = given.length === 0 ? 'has none' : `has ${given.join(' and ')}`;
    const message = `${found}, but must have exactly one of ${ruleConditions.join(', ')}`;
    payload.issues.push({ code: 'custom', path: [], message, input: payload.value });
  });
export type RunRule = z.infer<typeof RunRule>;

/** Maximum number of rules of a project, and of a run besides those of its project. */
export const maxRules = 20;

/** Return the keys of a rule, or of its part of this name. */
export function ruleKeys(part?: PropertyKey): string[] {
  const found = parts.find(([name]) => name === part);
  return Object.keys(found === undefined ? RunRule.shape : found[1].shape);
}

const parts = [
  ['above', Bound],
  ['below', Bound],
  ['no improvement', NoImprovement],
  ['idle', Idle],
] as const;
