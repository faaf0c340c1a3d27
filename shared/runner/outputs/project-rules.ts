import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { openOwned } from '../host/growing-file.ts';
import { readAtMost } from '../host/read-at-most.ts';
import { MetricRules } from '../printed-metrics/metric-rules.ts';

const maxBytes = 64 * 1024;

const Rules = z.object({ metrics: z.array(z.string()).min(1) });

/** Return the rules for metrics in the `mps.yaml` of a source; undefined if there are none. Never rejects. */
export async function projectRules(
  source: string,
  user: { uid: number } | undefined,
): Promise<MetricRules | undefined> {
  try {
    const handle = await openOwned(join(source, 'mps.yaml'), user);
    try {
      const text = await readAtMost(handle, maxBytes);
      const found = Rules.safeParse(text && parse(text.toString('utf8')));
      return found.success ? new MetricRules(found.data.metrics) : undefined;
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}
