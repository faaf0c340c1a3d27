import { basename } from 'node:path/posix';
import * as z from 'zod/mini';
import type { endpoint as listArtifacts } from '../../functions/experiments/artifacts/list-artifacts.endpoint.ts';
import type { endpoint as createQuantize } from '../../functions/optimization/compressions/quantize/create-quantize-strategy.endpoint.ts';
import type { endpoint as createModel } from '../../functions/optimization/models/create-model.endpoint.ts';
import { pruneStrategyNames } from '../../shared/onnx/strategies/prune-strategies.ts';
import { quantizeStrategyNames, usualPrecision } from '../../shared/onnx/strategies/quantize-strategies.ts';
import { CliError } from '../cli-error.ts';
import type { Compression } from '../commands/models/follow-compression.ts';
import { setsToRegister } from '../commands/models/models.ts';
import { byId } from '../commands/models/receipt.ts';
import type { Experiment } from '../experiments/experiment.ts';
import type { Session } from '../login/connect.ts';
import type { Agent } from './agent.ts';
import { runOf } from './reading-tools.ts';
import { type BegunCompression, compressionAnswer } from './run-facts.ts';
import {
  bytesOf,
  choice,
  flag,
  longInput,
  number,
  projectInput,
  spendInput,
  type Tool,
  text,
  tool,
  whole,
} from './tool.ts';
import { budgetOf } from './training-tools.ts';

export const compressionInput = { compression: text('ID of a compression.', 26) };

/** Find the compression of a call. @throws CliError if there is none */
export async function compressionOf(agent: Agent, { compression: id }: { compression: string }) {
  const held = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(id) ? await byId(agent.session, id) : undefined;
  if (held === undefined) throw new CliError(`There is no compression ${id}: give its 26 characters.`);
  return held;
}

/** Return the path of the ONNX file among the artifacts of a run. @throws CliError if it is not clear which */
async function onnxOf({ client }: Session, { project_id, experiment_id }: Experiment): Promise<string> {
  const route = 'GET /projects/{project_id}/experiments/{experiment_id}/artifacts';
  const paths: string[] = [];
  for await (const { path } of client.rows<typeof listArtifacts>(route, {
    path: { project_id, experiment_id },
  }))
    if (path.endsWith('.onnx')) paths.push(path);
  const [only, ...others] = paths;
  if (only !== undefined && others.length === 0) return only;
  throw new CliError(
    only === undefined
      ? `The run ${experiment_id} has no artifact that ends in .onnx.`
      : `The run ${experiment_id} has several ONNX files. Give artifact: ${paths.slice(0, 20).join(', ')}.`,
  );
}

/** Register an artifact of a run as a model, with the sets beside it, and return its name. A repetition changes nothing. */
async function registered(
  session: Session,
  experiment: Experiment,
  given: string | undefined,
): Promise<string> {
  const artifact = given ?? (await onnxOf(session, experiment));
  const { project_id, experiment_id } = experiment;
  const stem = basename(artifact, '.onnx')
    .replaceAll(/[^A-Za-z0-9_-]/g, '-')
    .slice(0, 60);
  const model_name = `${stem}-${experiment_id.slice(-8)}`;
  const sets = await setsToRegister(session, { project_id, experiment_id }, artifact, {});
  await session.client.call<typeof createModel>('POST /optimization/models/{model_name}', {
    path: { model_name },
    query: { experiment_id, path: artifact, ...sets },
  });
  return model_name;
}

/** Value of a condition, and whether it holds. */
interface Verdict {
  condition: string;
  value: unknown;
  holds: boolean;
}

const isNumber = (value: unknown): value is number => typeof value === 'number';

/** Judge a run by the best or last value of a metric. */
function runVerdicts(
  experiment: Experiment,
  { metric, at_least, at_most, of = 'best' }: GateInput,
): Verdict[] {
  if (metric === undefined || (at_least === undefined) === (at_most === undefined))
    throw new CliError('The gate of a run takes metric, and at_least or at_most.');
  const summary = Object.hasOwn(experiment.metrics, metric) ? experiment.metrics[metric] : undefined;
  const best = at_least === undefined ? summary?.min : summary?.max;
  const value = of === 'last' ? summary?.last : best;
  const bound = at_least ?? at_most ?? 0;
  const holds = isNumber(value) && (at_least === undefined ? value <= bound : value >= bound);
  const condition = `${of} ${metric} ${at_least === undefined ? 'at most' : 'at least'} ${bound}`;
  return [{ condition, value: value ?? null, holds }];
}

/** Judge a compression: that it is useful, and by the size and the loss that a call allows. */
function compressionVerdicts(
  { status, receipt, result }: Compression,
  { max_mb, max_loss }: GateInput,
): Verdict[] {
  const bytes = result.reduce((sum, { size }) => sum + size, 0);
  const verdicts: Verdict[] = [
    { condition: 'status is SUCCEEDED', value: status, holds: status === 'SUCCEEDED' },
    {
      condition: 'the result is useful',
      value: receipt?.is_useless === false,
      holds: receipt?.is_useless === false,
    },
  ];
  if (max_mb !== undefined)
    verdicts.push({
      condition: `at most ${max_mb} MB`,
      value: bytes / 1e6,
      holds: bytes > 0 && bytes <= max_mb * 1e6,
    });
  if (max_loss !== undefined) {
    const { accuracy = null, agreement = null } = receipt ?? {};
    const agreed = agreement === null ? null : 1 - agreement.share;
    const loss = accuracy === null ? agreed : accuracy.before - accuracy.after;
    const what = accuracy === null ? 'share of other answers than the model' : 'loss of accuracy';
    verdicts.push({
      condition: `${what} at most ${max_loss}`,
      value: loss,
      holds: loss !== null && loss <= max_loss,
    });
  }
  return verdicts;
}

interface GateInput {
  metric?: string | undefined;
  at_least?: number | undefined;
  at_most?: number | undefined;
  of?: 'best' | 'last' | undefined;
  max_mb?: number | undefined;
  max_loss?: number | undefined;
}

/** Tools that compress what a run made, and judge it. */
export const compressionTools: readonly Tool[] = [
  tool({
    name: 'compress',
    description:
      'Quantize or prune the ONNX artifact of a run, or a registered model. auto tries all strategies and keeps the smallest that loses at most max_loss. Returns at once: call wait for the end.',
    spends: true,
    input: z.strictObject({
      ...spendInput,
      run: z.optional(text('ID of the run that made the model.', 26)),
      artifact: z.optional(text('Path of its ONNX file. Default: its only one.')),
      model: z.optional(text('Name of a registered model, in place of run.', 200)),
      strategy: z.optional(
        choice([...new Set([...quantizeStrategyNames, ...pruneStrategyNames])], 'Default: auto.'),
      ),
      operation: z.optional(choice(['quantize', 'prune'], 'Default: quantize.')),
      max_loss: z.optional(number('With auto: the maximum loss, a share of accuracy. Default: 0.01.', 0, 1)),
      options: z.optional(
        z
          .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
          .check(
            z.describe('Further parameters of the strategy, such as {"precision": 8} or {"compression": 2}.'),
          ),
      ),
      result_name: z.optional(text('Name under which to register the result as a model.', 200)),
      timeout: z.optional(whole('Seconds after which the job is stopped. Default: 3600.', 1, 10_000_000)),
      ...projectInput,
    }),
    async call(input, agent) {
      const { idempotency_key: key, max_usd, run, artifact, model, strategy = 'auto', ...more } = input;
      const { operation = 'quantize', max_loss, options, result_name, timeout, project } = more;
      return agent.ledger.once<BegunCompression>(
        { tool: 'compress', key, input },
        {
          async begin(session) {
            if ((run === undefined) === (model === undefined))
              throw new CliError('Give run or model: one of the two.');
            const model_name =
              model ?? (await registered(session, await runOf(agent, { run: run ?? '', project }), artifact));
            const query = {
              ...(operation === 'quantize'
                ? { precision: usualPrecision(strategy) }
                : { inputs: 'auto', outputs: 'auto' }),
              ...options,
              ...{ model_name, strategy, max_loss, result_name, timeout },
              // What the options say about money counts for nothing.
              budget: budgetOf(agent, max_usd).budget,
            };
            // Pruning and quantization share one answer, and the service checks the parameters of both.
            return session.client.call<typeof createQuantize>(
              `POST /optimization/${operation}` as never,
              {
                query,
              } as never,
            ) as Promise<BegunCompression>;
          },
          show(begun) {
            const { page, units = {} } = compressionAnswer(agent, operation, begun);
            const { strategy_id, status, cost_estimate, model_name } = begun;
            const facts = {
              compression: strategy_id,
              operation,
              model: model_name,
              status,
              cost_estimate,
              max_usd,
            };
            return { page, units, data: facts };
          },
        },
      );
    },
  }),
  tool({
    name: 'receipt',
    description:
      'Show what a compression changed: size, accuracy, speed, warnings, and how to save the result.',
    isReadOnly: true,
    input: z.strictObject({
      ...compressionInput,
      ...longInput,
      full: z.optional(flag('Whether to show every layer and candidate, too; with long.')),
    }),
    async call({ long, full, ...named }, agent) {
      const { operation, compression } = await compressionOf(agent, named);
      const answer = compressionAnswer(agent, operation, compression);
      const data = full === true ? { ...(answer.data as object), receipt: compression.receipt } : answer.data;
      return { ...answer, data, ...bytesOf({ long }) };
    },
  }),
  tool({
    name: 'gate',
    description:
      'Say whether a run reaches a value of a metric, or whether a compression is useful, small enough and accurate enough. passes is true only if all conditions hold.',
    isReadOnly: true,
    input: z.strictObject({
      run: z.optional(text('ID of a run.', 26)),
      compression: z.optional(text('ID of a compression, in place of run.', 26)),
      metric: z.optional(text('Of a run: metric.', 250)),
      at_least: z.optional(number('Least value of the metric.')),
      at_most: z.optional(number('Greatest value of the metric.')),
      of: z.optional(
        choice(
          ['best', 'last'],
          'Which value. A program that saves its model at the end saves that of the last. Default: best.',
        ),
      ),
      max_mb: z.optional(number('Of a compression: most megabytes (1,000,000 bytes) of the result.', 0)),
      max_loss: z.optional(number('Of a compression: most loss of accuracy, a share.', 0, 1)),
      ...projectInput,
    }),
    async call({ run, compression, project, ...bounds }, agent) {
      if ((run === undefined) === (compression === undefined))
        throw new CliError('Give run or compression: one of the two.');
      if (run !== undefined) {
        const experiment = await runOf(agent, { run, project });
        const { project_id, experiment_id, status } = experiment;
        const conditions = runVerdicts(experiment, bounds);
        return {
          page: agent.page('projects', project_id, 'experiments', experiment_id),
          data: { passes: conditions.every(({ holds }) => holds), run: experiment_id, status, conditions },
        };
      }
      const held = await compressionOf(agent, { compression: compression ?? '' });
      const conditions = compressionVerdicts(held.compression, bounds);
      const { page, units = {} } = compressionAnswer(agent, held.operation, held.compression);
      return {
        page,
        units,
        data: { passes: conditions.every(({ holds }) => holds), compression, conditions },
      };
    },
  }),
];
