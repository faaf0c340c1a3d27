import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import {
  type Compression,
  type CompressionDetails,
  cancelCompression,
  type ModelDetails,
  openResult,
  removeCompression,
} from '../api/models.ts';
import { mayChangeCompression } from '../api/rights.ts';
import { addressOf, type Serving } from '../api/serving.ts';
import { Button, LinkButton } from '../ui/controls/button.tsx';
import { Confirm } from '../ui/controls/dialog.tsx';
import { follow } from '../ui/save.ts';
import { attempt, tell } from '../ui/states/notice.tsx';
import { isFinal, Status } from '../ui/states/status.tsx';
import { LongText } from '../ui/text/long-text.tsx';
import { AliasChips } from './alias-chips.tsx';
import { aliasesOf, promote, removeAlias } from './aliases.ts';
import { CompressionLog } from './compression-log.tsx';
import type { Relative } from './lineage/family.ts';
import { SourceExperiment } from './lineage/lineage.tsx';
import { receiptOf } from './lineage/receipt-link.ts';
import { PromoteDialog } from './promote-dialog.tsx';
import { ReceiptView } from './receipt.tsx';
import { bytesOf } from './result-bytes.ts';
import { originalId } from './tradeoff/tradeoff-points.ts';

/** Version of a model, and how its model is served. */
interface Served {
  model_name: string;
  /** `original` or the id of a compression. */
  version: string;
  /** Name of the version for people. */
  name: string;
  /** Undefined if the model is not served. */
  serving: Serving | undefined;
  mayPromote: boolean;
  onServing: () => Promise<void>;
}

/** Chips of a version's aliases, which remove them, with Undo. */
function Aliases({ model_name, version, serving, mayPromote, onServing }: Served) {
  const remove = (alias: string) =>
    attempt(async () => {
      const undo = await removeAlias(model_name, alias, version);
      await onServing();
      tell(`The alias ${alias} is removed`, false, { name: 'Undo', act: () => undo().then(onServing) });
    });
  const aliases = aliasesOf(serving, version);
  return aliases.length === 0 ? null : (
    <div class="chips">
      <AliasChips aliases={aliases} onRemove={mayPromote ? remove : undefined} />
    </div>
  );
}

/** Button that opens the dialog to give a version an alias of its serving. */
function Promote({
  served: { model_name, version, name, serving, onServing },
  names,
}: {
  served: Served;
  /** Names of the versions for people, by id. */
  names: ReadonlyMap<string, string>;
}) {
  const [isOpen, setOpen] = useState(false);
  const named = Object.entries(serving?.aliases ?? {}).map(
    ([alias, id]) => [alias, names.get(id) ?? id] as const,
  );
  return (
    <>
      <Button icon="tag" onClick={() => setOpen(true)}>
        Promote
      </Button>
      {isOpen && (
        <PromoteDialog
          version={name}
          aliases={Object.fromEntries(named)}
          effect={(alias) => (
            <>
              {serving === undefined && 'The model is served from then on, to every account that may read. '}
              It answers at{' '}
              <code>
                {addressOf(model_name)}/versions/{alias}/infer
              </code>
            </>
          )}
          onPromote={async (alias) => {
            const undo = await promote(model_name, alias, version);
            await onServing();
            return () => undo().then(onServing);
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

function Panel({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="panel version" aria-label={`Version ${title}`} aria-live="polite">
      {children}
    </section>
  );
}

/** Panel of the model itself, beside the plot. */
export function OriginalPanel({
  model,
  serving,
  names,
  mayPromote,
  onServing,
}: {
  model: ModelDetails;
  serving: Serving | undefined;
  names: ReadonlyMap<string, string>;
  mayPromote: boolean;
  onServing: () => Promise<void>;
}) {
  const { model_name, origin, bytes } = model;
  const served = { model_name, version: originalId, name: originalId, serving, mayPromote, onServing };
  return (
    <Panel title={originalId}>
      <h2>Original</h2>
      <Aliases {...served} />
      <p class="soft">
        {bytesText(bytes)}, as it was {origin.kind === 'artifact' ? 'trained' : 'before any compression here'}
        {origin.kind === 'artifact' && (
          <>
            {' '}
            by <SourceExperiment {...origin} />
          </>
        )}
      </p>
      {mayPromote && (
        <div class="bar-row after">
          <Promote served={served} names={names} />
        </div>
      )}
    </Panel>
  );
}

const questions = {
  end: {
    title: 'Cancel this compression?',
    action: 'Cancel the compression',
    act: cancelCompression,
  },
  remove: { title: 'Delete this version?', action: 'Delete for ever', act: removeCompression },
} as const;

/** Button that cancels a running compression or deletes an ended one, after a question. */
function EndButton({
  compression,
  onChange,
}: {
  compression: Relative<Compression>;
  onChange: () => Promise<void>;
}) {
  const { status, path, registered } = compression;
  const [isAsking, setAsking] = useState(false);
  const ended = isFinal(status);
  const { title, action, act } = questions[ended ? 'remove' : 'end'];
  return (
    <>
      {ended ? (
        <Button kind="danger" icon="trash" label="Delete the version" onClick={() => setAsking(true)} />
      ) : (
        <Button kind="danger" icon="stop" onClick={() => setAsking(true)}>
          Cancel
        </Button>
      )}
      {isAsking && (
        <Confirm
          title={title}
          action={action}
          onClose={() => setAsking(false)}
          onConfirm={() => act(compression).then(onChange)}
        >
          <p>
            {ended ? (
              <>
                {path} is deleted with its receipt and {bytesText(bytesOf(compression))} of result.{' '}
                {registered === true && 'The model registered from it stays. '}This cannot be undone.
              </>
            ) : (
              `${path} stops without a result.`
            )}
          </p>
        </Confirm>
      )}
    </>
  );
}

/** Panel of a compressed version, beside the plot: its receipt, Download and Promote. */
export function VersionPanel({
  compression,
  details,
  isAsked,
  serving,
  names,
  mayPromote,
  onChange,
  onServing,
}: {
  compression: Relative<Compression>;
  /** Undefined while its receipt is being loaded. */
  details: CompressionDetails | undefined;
  /** Whether the address names this version. A phone then scrolls to it. */
  isAsked: boolean;
  serving: Serving | undefined;
  names: ReadonlyMap<string, string>;
  mayPromote: boolean;
  onChange: () => Promise<void>;
  onServing: () => Promise<void>;
}) {
  const { strategy_id, status, status_reason, progress, path, result, operation, model_name } = compression;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isAsked) box.current?.scrollIntoView({ block: 'nearest' });
  }, [isAsked, strategy_id]);
  const isThere = status === 'SUCCEEDED';
  const download = (file: string) =>
    attempt(async () => {
      const response = await openResult(compression, file);
      await response.body?.cancel();
      follow(response.url, file);
    });
  const receipt = details?.receipt ?? null;
  const served = { model_name, version: strategy_id, name: path, serving, mayPromote, onServing };
  return (
    <div ref={box}>
      <Panel title={path}>
        <div class="version-head">
          <h2>{path}</h2>
          {!isThere && <Status status={status} />}
        </div>
        <p class="soft small">
          {operation === 'prune' ? 'Pruned' : 'Quantized'} from{' '}
          <bdi>{compression.isOwn ? originalId : model_name}</bdi>
          {progress !== null && !isFinal(status) && (
            <>
              {' '}
              · {progress.stage} {Math.round(progress.fraction * 100)} %
            </>
          )}
        </p>
        <Aliases {...served} />
        <div class="bar-row">
          {result.map(({ name, size }) => (
            <Button key={name} icon="download" onClick={() => download(name)}>
              Download {bytesText(size)}
            </Button>
          ))}
          {isThere && mayPromote && compression.isOwn && <Promote served={served} names={names} />}
          {!compression.isOwn && (
            <LinkButton href={receiptOf(compression)}>
              Open in <bdi>{model_name}</bdi>
            </LinkButton>
          )}
          {mayChangeCompression(compression) && <EndButton compression={compression} onChange={onChange} />}
        </div>
        {status_reason !== null && (
          <p class={status === 'FAILED' ? 'reason bad' : 'reason'}>
            <LongText text={status_reason} />
          </p>
        )}
        {receipt !== null && <ReceiptView receipt={receipt} />}
        <CompressionLog key={strategy_id} compression={compression} />
      </Panel>
    </div>
  );
}
