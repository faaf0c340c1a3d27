import { resolve } from 'node:path';
import type { endpoint as createPrune } from '../../../functions/optimization/compressions/prune/create-prune-strategy.endpoint.ts';
import type { endpoint as createQuantize } from '../../../functions/optimization/compressions/quantize/create-quantize-strategy.endpoint.ts';
import {
  keepsAll,
  pruneParameters,
  pruneStrategyNames,
} from '../../../shared/onnx/strategies/prune-strategies.ts';
import {
  quantizeParameters,
  quantizeStrategyNames,
  usualPrecision,
} from '../../../shared/onnx/strategies/quantize-strategies.ts';
import { CliError, exitCodes, refuseBoth } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { connect, type Session } from '../../login/connect.ts';
import { refuseReplacing } from '../../output/save-text.ts';
import { modelArgument } from '../arguments.ts';
import { command } from '../command.ts';
import { detach, force, gate, json, runBudget, text, verbose } from '../flags.ts';
import { followCompression, type Operation } from './follow-compression.ts';
import { registryFlags, registryValues } from './registry-flags.ts';
import { placesOfResult, saveResult } from './save-result.ts';
import { showCompression } from './show-compression.ts';

/** Flags that do not depend on the method. */
interface JobFlags {
  strategy: string;
  resultName?: string;
  vcpus?: string;
  memory?: string;
  timeout?: string;
  budget?: number;
  to?: string;
  gate?: boolean;
  force?: boolean;
  detach?: boolean;
  json?: boolean;
  verbose?: boolean;
}

const jobFlags = {
  resultName: text('NAME', 'Model name under which to register the result'),
  vcpus: text('N', 'vCPUs of the job'),
  memory: text('MIB', 'Memory of the job in MiB'),
  timeout: text('SECONDS', 'Seconds after which the job is stopped'),
  budget: { ...runBudget, brief: 'US$ that the job may cost; then it ends' },
  to: text('FILE', 'Save the result as this file, with its external data as FILE.data'),
  gate,
  force,
  detach,
  json,
  verbose,
} as const;

const strategyFlag = (names: readonly string[]) =>
  ({
    kind: 'parsed',
    parse: String,
    proposeCompletions: () => names,
    placeholder: 'NAME',
    brief: `One of ${names.join(', ')}`,
  }) as const;

/** Refuse flags that would fail after the job. @throws CliError before any request */
async function refuseAtOnce(
  { folder }: CliContext,
  { detach: isDetached, gate: isGated, to, force: isForced }: JobFlags,
): Promise<void> {
  refuseBoth(
    { detach: isDetached, gate: isGated },
    'Check the gate after the job has ended: mps receipt ID --gate',
  );
  refuseBoth({ detach: isDetached, to }, 'Save the result after the job has ended: mps receipt ID --to FILE');
  if (to !== undefined)
    await refuseReplacing(placesOfResult(resolve(folder, to)), {
      force: isForced,
      undone: 'nothing was started',
    });
}

const jobQuery = ({ strategy, resultName: result_name, vcpus, memory, timeout, budget }: JobFlags) => ({
  strategy,
  result_name,
  vcpus,
  memory,
  timeout,
  budget,
});

/** Follow a compression, show its receipt and save its result, as the flags say. */
async function finish(
  context: CliContext,
  session: Session,
  operation: Operation,
  { strategy_id, ...begun }: { strategy_id: string },
  { detach: isDetached, json: isJson = false, gate: isGated = false, to, force: isForced }: JobFlags,
): Promise<void> {
  const { printer } = context;
  if (isDetached) {
    if (isJson) printer.json({ strategy_id, ...begun });
    else printer.line(strategy_id);
    return;
  }
  printer.say(`submitted   ${strategy_id}`);
  const compression = await followCompression(session.client, operation, strategy_id, printer);
  showCompression(context, compression, { json: isJson, gate: isGated });
  if (to !== undefined && compression.status === 'SUCCEEDED')
    await saveResult(context, session, { operation, compression, to, force: isForced });
}

const precisionBrief = `${quantizeParameters.precision.description} ${quantizeParameters.precision.usage} Default: ${usualPrecision('auto')} with auto, or the only precision of a strategy.`;

export const quantizeCommand = command({
  brief: 'Quantize a model',
  help: `Makes a smaller and faster copy of a registered model, and prints the receipt.

Examples:
  mps quantize digits --strategy auto --max-loss 0.01
  mps quantize digits --strategy dynamic --precision 8
  mps quantize digits -s static_minmax --precision 8 --result-name digits-8 --to digits-8.onnx`,
  args: [modelArgument],
  flags: {
    strategy: strategyFlag(quantizeStrategyNames),
    ...registryFlags(quantizeParameters),
    precision: text('VALUE', precisionBrief),
    ...jobFlags,
  },
  aliases: { s: 'strategy', d: 'detach' },
  async run(flags, model_name) {
    await refuseAtOnce(this, flags);
    const session = await connect(this.env);
    const { precision = usualPrecision(flags.strategy) } = flags;
    const values = registryValues(quantizeParameters, { ...flags, precision });
    const query = { model_name, ...jobQuery(flags), ...values };
    const begun = await session.client.call<typeof createQuantize>('POST /optimization/quantize', { query });
    await finish(this, session, 'quantize', begun, flags);
  },
});

export const pruneCommand = command({
  brief: 'Prune a model',
  help: `Makes a copy of a registered model without its least important weights, and prints the receipt.

Examples:
  mps prune digits --strategy structured_l2 --compression 2
  mps prune digits -s magnitude_global --compression 4 --result-name digits-sparse`,
  args: [modelArgument],
  flags: {
    strategy: strategyFlag(pruneStrategyNames),
    ...registryFlags(pruneParameters),
    inputs: text('SHAPES', "Shapes of the inputs (default: the model's)"),
    outputs: text('SHAPES', "Shapes of the outputs (default: the model's)"),
    ...jobFlags,
  },
  aliases: { s: 'strategy', d: 'detach' },
  async run(flags, model_name) {
    await refuseAtOnce(this, flags);
    const { compression = String(pruneParameters.compression.otherwise) } = flags;
    if (keepsAll(flags.strategy, Number(compression))) {
      const told = 'compression 1 keeps all weights: --compression 2 keeps half of them.';
      // The user may request it explicitly, for example to compare.
      if (flags.compression === undefined)
        throw new CliError(`${told} Nothing was started.`, exitCodes.usage);
      this.printer.say(told);
    }
    const session = await connect(this.env);
    const { inputs = 'auto', outputs = 'auto' } = flags;
    const query = {
      model_name,
      inputs,
      outputs,
      ...jobQuery(flags),
      ...registryValues(pruneParameters, { ...flags }),
    };
    const begun = await session.client.call<typeof createPrune>('POST /optimization/prune', { query });
    await finish(this, session, 'prune', begun, flags);
  },
});
