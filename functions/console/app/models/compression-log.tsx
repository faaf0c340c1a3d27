import { useState } from 'preact/hooks';
import { type Compression, loadCompressionLog } from '../api/models.ts';
import { useLive } from '../api/use-live.ts';
import { Loaded } from '../ui/states/loaded.tsx';
import { isFinal } from '../ui/states/status.tsx';

function Lines({ compression }: { compression: Compression }) {
  const live = useLive(`log/${compression.strategy_id}`, () => loadCompressionLog(compression), {
    every: () => (isFinal(compression.status) ? undefined : 3_000),
  });
  return (
    <Loaded live={live} rows={3} what="The log could not be loaded">
      {(lines) =>
        lines === '' ? (
          <p class="soft small">The job has written nothing.</p>
        ) : (
          <pre class="text" tabIndex={0}>
            {lines}
          </pre>
        )
      }
    </Loaded>
  );
}

/** Job of a compression: its id, and its log once it is opened. */
export function CompressionLog({ compression }: { compression: Compression }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="graph-fold" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Log of the job</summary>
      <p class="soft small">
        Job <code>{compression.strategy_id}</code>
      </p>
      {isOpen && <Lines compression={compression} />}
    </details>
  );
}
