import { vi } from 'vitest';
import type { endpoint as createPrune } from '../../functions/optimization/compressions/prune/create-prune-strategy.endpoint.ts';
import type { endpoint as readPrune } from '../../functions/optimization/compressions/prune/read-prune-strategy.endpoint.ts';
import type { endpoint as createQuantize } from '../../functions/optimization/compressions/quantize/create-quantize-strategy.endpoint.ts';
import type { endpoint as readQuantize } from '../../functions/optimization/compressions/quantize/read-quantize-strategy.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';

async function ended(read: () => Promise<{ status: string; status_reason: string | null }>): Promise<void> {
  await vi.waitUntil(async () => /SUCCEEDED|FAILED|CANCELLED/.test((await read()).status), {
    timeout: 240_000,
    interval: 500,
  });
  const { status, status_reason } = await read();
  if (status !== 'SUCCEEDED') throw new Error(status_reason ?? status);
}

/** Prune a model by magnitude and wait for the result, which `result_name` makes a model of its own. */
export async function prune(
  client: Client,
  model_name: string,
  compression: string,
  result_name?: string,
): Promise<void> {
  const { strategy_id } = await client.call<typeof createPrune>('POST /optimization/prune', {
    query: {
      model_name,
      strategy: 'magnitude_global',
      compression,
      inputs: 'auto',
      outputs: 'auto',
      ...(result_name !== undefined && { result_name }),
    } as never,
  });
  await ended(() =>
    client.call<typeof readPrune>('GET /optimization/prune/strategies/{strategy_id}', {
      path: { strategy_id },
    }),
  );
}

/** Quantize a model and wait for the result. @returns the id of its strategy */
export async function quantize(
  client: Client,
  model_name: string,
  query: Readonly<Record<string, string>>,
): Promise<string> {
  const { strategy_id } = await client.call<typeof createQuantize>('POST /optimization/quantize', {
    query: { model_name, ...query } as never,
  });
  await ended(() =>
    client.call<typeof readQuantize>('GET /optimization/quantize/strategies/{strategy_id}', {
      path: { strategy_id },
    }),
  );
  return strategy_id;
}
