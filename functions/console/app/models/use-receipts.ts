import { useEffect, useState } from 'preact/hooks';
import { type Compression, type CompressionDetails, loadCompression } from '../api/models.ts';

const maxReceipts = 40;

/** Load the receipts of successful compressions, each once: the chosen one and at most 40 others. */
export function useReceipts(
  compressions: readonly Compression[],
  chosen: string | undefined,
): ReadonlyMap<string, CompressionDetails> {
  const [found, setFound] = useState<ReadonlyMap<string, CompressionDetails>>(new Map());
  const missing = compressions
    .filter(({ status, strategy_id }) => status === 'SUCCEEDED' && !found.has(strategy_id))
    .filter(({ strategy_id }, index) => strategy_id === chosen || found.size + index < maxReceipts);
  const key = missing.map(({ strategy_id }) => strategy_id).join();
  useEffect(() => {
    if (missing.length === 0) return;
    let isGone = false;
    Promise.all(missing.map(loadCompression))
      .then((details) => {
        if (!isGone)
          setFound(
            (before) =>
              new Map([...before, ...details.map((detail) => [detail.strategy_id, detail] as const)]),
          );
      })
      // Show the versions without receipts until the next refresh.
      .catch(() => undefined);
    return () => {
      isGone = true;
    };
  }, [key]);
  return found;
}
