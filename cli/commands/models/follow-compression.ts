import type { endpoint as cancelPrune } from '../../../functions/optimization/compressions/prune/cancel-prune-strategy.endpoint.ts';
import type { endpoint as readPrune } from '../../../functions/optimization/compressions/prune/read-prune-strategy.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import { ProblemError } from '../../../shared/client/problem-error.ts';
import { wait } from '../../../shared/client/retry.ts';
import type { AnswerOf } from '../../../shared/client/route.ts';
import { UnreachableError } from '../../../shared/client/unreachable-error.ts';
import { detachable } from '../../experiments/detachable.ts';
import { LiveLine } from '../../output/live-line.ts';
import type { Printer } from '../../output/printer.ts';
import { secondsText } from '../../output/units.ts';

export type Operation = 'prune' | 'quantize';

/** A pruning or quantization job, with its receipt after it has ended. */
export type Compression = AnswerOf<typeof readPrune>;

const pollMilliseconds = 500;
const ends: readonly string[] = ['SUCCEEDED', 'FAILED', 'CANCELLED'];

/** Read a compression. Pruning and quantization share one definition and differ only in the path. */
export const readCompression = (
  client: Client,
  operation: Operation,
  strategy_id: string,
  signal?: AbortSignal,
): Promise<Compression> =>
  client.call<typeof readPrune>(`GET /optimization/${operation}/strategies/{strategy_id}`, {
    path: { strategy_id },
    ...(signal !== undefined && { signal }),
  });

const isAway = (error: unknown): boolean =>
  error instanceof UnreachableError || (error instanceof ProblemError && error.status === 503);

function stateOf({ status, status_reason, progress }: Compression): string {
  if (status_reason !== null) return `${status}: ${status_reason}`;
  return progress === null ? status : `${status}: ${progress.stage}`;
}

async function toTheEnd(
  read: (signal: AbortSignal) => Promise<Compression>,
  printer: Printer,
  signal: AbortSignal,
): Promise<Compression> {
  const line = new LiveLine(printer);
  const since = performance.now();
  let shown = '';
  let isLost = false;
  try {
    for (;;) {
      try {
        const compression = await read(signal);
        if (isLost) line.above(() => printer.say('The service can be reached again.'));
        isLost = false;
        if (ends.includes(compression.status)) return compression;
        const state = stateOf(compression);
        if (state !== shown) line.above(() => printer.say(`  ${state}`));
        shown = state;
        const percent =
          compression.progress === null ? '' : `  ${Math.round(100 * compression.progress.fraction)} %`;
        line.set(`${state}${percent}  ${secondsText((performance.now() - since) / 1000)}`);
      } catch (error) {
        if (!isAway(error)) throw error;
        if (!isLost) line.above(() => printer.say('The service cannot be reached; retrying…'));
        isLost = true;
      }
      await wait(pollMilliseconds, signal);
    }
  } finally {
    line.end();
  }
}

/**
 * Show the stages of a compression until it ends. The first Ctrl-C detaches. A second one within two seconds cancels
 * the job.
 *
 * @throws CliError if the user detaches
 */
export function followCompression(
  client: Client,
  operation: Operation,
  strategy_id: string,
  printer: Printer,
): Promise<Compression> {
  const cancel = async () => {
    const route = `POST /optimization/${operation}/strategies/{strategy_id}/cancel` as const;
    await client.call<typeof cancelPrune>(route, { path: { strategy_id } });
    return `Cancelled ${strategy_id}.`;
  };
  const read = (signal: AbortSignal) => readCompression(client, operation, strategy_id, signal);
  return detachable((signal) => toTheEnd(read, printer, signal), {
    printer,
    what: operation === 'prune' ? 'pruning' : 'quantization',
    again: `mps receipt ${strategy_id}`,
    cancel,
  });
}
