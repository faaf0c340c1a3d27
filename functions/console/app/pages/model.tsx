import { useEffect, useRef, useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import {
  type Compression,
  type CompressionDetails,
  cancelCompression,
  loadCompression,
  loadCompressions,
  loadModel,
  type ModelDetails,
  openResult,
  removeCompression,
  removeModel,
} from '../api/models.ts';
import { mayChangeCompression, mayChangeModel, ownRights } from '../api/rights.ts';
import { useLive } from '../api/use-live.ts';
import { familyOf } from '../models/family.ts';
import { Lineage } from '../models/lineage.tsx';
import { OptimizeForm } from '../models/optimize-form.tsx';
import { ReceiptView } from '../models/receipt.tsx';
import { bytesOf } from '../models/result-bytes.ts';
import { SetsDialog } from '../models/sets-dialog.tsx';
import { Tradeoff } from '../models/tradeoff.tsx';
import { go, href, place } from '../router.ts';
import { useFirstOf } from '../ui/first-of.tsx';
import { attempt } from '../ui/notice.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { Ago, Button, Confirm, LinkButton, Loaded } from '../ui/parts.tsx';
import { follow } from '../ui/save.ts';
import { isFinal, Status } from '../ui/status.tsx';
import { numberText, plural } from '../ui/text/format.ts';
import { LongText } from '../ui/text/long-text.tsx';

const maxReceipts = 40;

type Inspected = NonNullable<ModelDetails['inspection']>;

const Tensors = ({ list, what }: { list: Inspected['inputs']; what: string }) => {
  const [shown, more] = useFirstOf(list, 12, what);
  return (
    <>
      {shown.map(({ name, type, shape }) => (
        <div key={name}>
          <code>
            {name}: {type} [{(shape ?? []).map((size) => size ?? '?').join(', ')}]
          </code>
        </div>
      ))}
      {more}
    </>
  );
};

const Operators = ({ operators }: { operators: Inspected['operators'] }) => {
  const [shown, more] = useFirstOf(
    Object.entries(operators).sort((a, b) => b[1] - a[1]),
    24,
    'operators',
  );
  return (
    <dd class="chips">
      {shown.map(([name, count]) => (
        <span key={name} class="chip">
          {name} × {count}
        </span>
      ))}
      {more}
    </dd>
  );
};

const Inspection = ({ model, onSets }: { model: ModelDetails; onSets: (() => void) | undefined }) => {
  const { inspection, files, bytes, opset } = model;
  return (
    <section class="panel">
      <h2>Contents</h2>
      <dl class="facts">
        <dt>Size</dt>
        <dd>
          {bytesText(bytes)} in {plural(files.length, 'file')}
        </dd>
        {inspection !== null && (
          <>
            <dt>Parameters</dt>
            <dd>{numberText(inspection.parameters)}</dd>
            <dt>Opset</dt>
            <dd>{opset ?? '–'}</dd>
            <dt>Made by</dt>
            <dd>
              <bdi>{inspection.producer || '–'}</bdi>
            </dd>
            <dt>Inputs</dt>
            <dd>
              <Tensors list={inspection.inputs} what="inputs" />
            </dd>
            <dt>Outputs</dt>
            <dd>
              <Tensors list={inspection.outputs} what="outputs" />
            </dd>
            <dt>Operators</dt>
            <Operators operators={inspection.operators} />
          </>
        )}
        <dt>Sets</dt>
        <dd>
          {[model.has_calibration && 'calibration', model.has_evaluation && 'evaluation']
            .filter(Boolean)
            .join(' and ') || 'none'}{' '}
          {onSets && (
            <button type="button" class="as-link" onClick={onSets}>
              add or replace
            </button>
          )}
        </dd>
      </dl>
    </section>
  );
};

function CompressionCard({
  compression,
  details,
  isChosen,
  onChange,
}: {
  compression: Compression;
  details: CompressionDetails | undefined;
  /** Whether the address names this compression. Its receipt is open then. */
  isChosen: boolean;
  onChange: () => Promise<void>;
}) {
  const { status, status_reason, progress, label, result, operation, created_at } = compression;
  const download = (file: string) =>
    attempt(async () => {
      const response = await openResult(compression, file);
      await response.body?.cancel();
      follow(response.url, file);
    });
  const receipt = details?.receipt ?? null;
  const [isAsking, setAsking] = useState(false);
  const card = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const { current } = card;
    if (!isChosen || current === null) return;
    current.open = true;
    current.querySelector('summary')?.focus({ preventScroll: true });
    current.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  const resultBytes = bytesOf(compression);
  return (
    <details class={isChosen ? 'panel strategy chosen' : 'panel strategy'} ref={card}>
      <summary>
        <Status status={status} />
        <strong class="grow">
          {operation === 'prune' ? 'Prune' : 'Quantize'}: {label}
        </strong>
        {progress !== null && !isFinal(status) && (
          <span class="soft small">
            {progress.stage} {Math.round(progress.fraction * 100)} %
          </span>
        )}
        {receipt !== null && (
          <span class="soft small number">
            {bytesText(receipt.file_bytes.before)} → {bytesText(receipt.file_bytes.after)}
            {receipt.latency !== null && `, ${(1 / receipt.latency.ratio).toFixed(2)}× as fast`}
          </span>
        )}
        <span class="soft small number only-wide">
          <Ago time={created_at} />
        </span>
      </summary>
      {status_reason !== null && (
        <p class={status === 'FAILED' ? 'reason bad' : 'reason'}>
          <LongText text={status_reason} />
        </p>
      )}
      {receipt !== null && <ReceiptView receipt={receipt} />}
      <div class="bar-row after">
        {result.map(({ name, size }) => (
          <Button key={name} icon="download" onClick={() => download(name)}>
            {name}, {bytesText(size)}
          </Button>
        ))}
        {mayChangeCompression(compression) && (
          <Button kind="danger" icon={isFinal(status) ? 'trash' : 'stop'} onClick={() => setAsking(true)}>
            {isFinal(status) ? 'Delete' : 'Cancel'}
          </Button>
        )}
      </div>
      {isAsking &&
        (isFinal(status) ? (
          <Confirm
            title="Delete this strategy?"
            action="Delete for ever"
            onClose={() => setAsking(false)}
            onConfirm={() => removeCompression(compression).then(onChange)}
          >
            <p>
              {label} is deleted with its receipt and {bytesText(resultBytes)} of result.{' '}
              {compression.registered === true && 'The model registered from it stays. '}This cannot be
              undone.
            </p>
          </Confirm>
        ) : (
          <Confirm
            title="Cancel this strategy?"
            action="Cancel the strategy"
            onClose={() => setAsking(false)}
            onConfirm={() => cancelCompression(compression).then(onChange)}
          >
            <p>{label} stops without a result.</p>
          </Confirm>
        ))}
    </details>
  );
}

/** Load the receipts of successful compressions, each once. */
function useReceipts(
  compressions: readonly Compression[] | undefined,
): ReadonlyMap<string, CompressionDetails> {
  const [found, setFound] = useState<ReadonlyMap<string, CompressionDetails>>(new Map());
  const missing = (compressions ?? [])
    .filter(({ status, strategy_id }) => status === 'SUCCEEDED' && !found.has(strategy_id))
    .slice(0, maxReceipts);
  const key = missing.map(({ strategy_id }) => strategy_id).join();
  useEffect(() => {
    if (missing.length === 0 || found.size >= maxReceipts) return;
    let isGone = false;
    Promise.all(missing.map(loadCompression))
      .then((details) => {
        if (!isGone) setFound(new Map([...found, ...details.map((one) => [one.strategy_id, one] as const)]));
      })
      // Show the cards without receipts until the next refresh.
      .catch(() => undefined);
    return () => {
      isGone = true;
    };
  }, [key]);
  return found;
}

/** Page of one model: its contents, its results, and forms for new ones. */
export function ModelPage({ model_name }: { model_name: string }) {
  const live = useLive(`model/${model_name}`, () => loadModel(model_name));
  const compressions = useLive(
    `family/${model_name}`,
    async () => familyOf(await loadCompressions(), model_name),
    {
      every: (list) => (list.some(({ status }) => !isFinal(status)) ? 2_000 : undefined),
    },
  );
  const receipts = useReceipts(compressions.data);
  const [isDeleting, setDeleting] = useState(false);
  const [isAddingSets, setAddingSets] = useState(false);
  const measured = (compressions.data ?? []).flatMap((compression) => {
    const receipt = receipts.get(compression.strategy_id)?.receipt;
    return receipt === undefined ? [] : [{ ...compression, receipt }];
  });
  const chosen = place.value.query.get('strategy');
  return (
    <Loaded live={live} rows={8} what="The model could not be loaded">
      {(model) => (
        <>
          <PageHead
            trail={[{ name: 'Models', href: href(['models']) }]}
            title={model_name}
            below={<Lineage model={model} />}
          >
            {model.status === 'ready' && (
              <LinkButton href={href(['models', model_name, 'serving'])}>Serving</LinkButton>
            )}
            {mayChangeModel(model) && (
              <Button kind="danger" icon="trash" label="Delete the model" onClick={() => setDeleting(true)} />
            )}
          </PageHead>
          <div class="split">
            <div>
              {measured.length > 0 && <Tradeoff family={measured} />}
              <h2 class="part-title">Strategies</h2>
              <Loaded live={compressions} rows={3} what="The strategies could not be loaded">
                {(list) => {
                  const own = list.filter(({ isOwn }) => isOwn).reverse();
                  return own.length === 0 ? (
                    <p class="soft">
                      None yet.
                      {ownRights().mayCreate && ' Start with int8 quantization, in the form on this page.'}
                    </p>
                  ) : (
                    own.map((compression) => (
                      <CompressionCard
                        key={compression.strategy_id}
                        compression={compression}
                        details={receipts.get(compression.strategy_id)}
                        isChosen={compression.strategy_id === chosen}
                        onChange={compressions.refresh}
                      />
                    ))
                  );
                }}
              </Loaded>
            </div>
            <aside aria-label="Form and facts">
              {model.status === 'ready' && ownRights().mayCreate && (
                <OptimizeForm model={model} onBegun={compressions.refresh} />
              )}
              <Inspection
                model={model}
                onSets={
                  model.status === 'ready' && mayChangeModel(model) ? () => setAddingSets(true) : undefined
                }
              />
            </aside>
          </div>
          {isAddingSets && (
            <SetsDialog model={model} onChange={live.refresh} onClose={() => setAddingSets(false)} />
          )}
          {isDeleting && (
            <Confirm
              title="Delete this model?"
              action="Delete for ever"
              onClose={() => setDeleting(false)}
              onConfirm={async () => {
                await removeModel(model_name);
                go(href(['models']));
              }}
            >
              <p>
                <bdi>{model_name}</bdi> is deleted with its files. Results made from it stay.
              </p>
            </Confirm>
          )}
        </>
      )}
    </Loaded>
  );
}
