import { useState } from 'preact/hooks';
import {
  type Compression,
  type CompressionDetails,
  loadCompressions,
  loadModel,
  type ModelDetails,
  removeModel,
} from '../api/models.ts';
import { mayChangeModel, ownRights } from '../api/rights.ts';
import type { Serving } from '../api/serving.ts';
import { useLive } from '../api/use-live.ts';
import { findServing } from '../models/aliases.ts';
import { CompressDialog } from '../models/compress-dialog.tsx';
import { Contents } from '../models/contents.tsx';
import { familyOf, type Relative } from '../models/lineage/family.ts';
import { Lineage } from '../models/lineage/lineage.tsx';
import { SetsDialog } from '../models/sets/sets-dialog.tsx';
import { qualityOf } from '../models/tradeoff/quality.ts';
import { Tradeoff } from '../models/tradeoff/tradeoff.tsx';
import { originalId } from '../models/tradeoff/tradeoff-points.ts';
import { useReceipts } from '../models/use-receipts.ts';
import { OriginalPanel, VersionPanel } from '../models/version-panel.tsx';
import { VersionsTable } from '../models/versions-table.tsx';
import { Button, LinkButton } from '../ui/controls/button.tsx';
import { Confirm } from '../ui/controls/dialog.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { goOn, href, place } from '../ui/router.ts';
import { Loaded } from '../ui/states/loaded.tsx';
import { isFinal } from '../ui/states/status.tsx';

/** Load how the models of a family are served, one after another. Models that are not served are left out. */
async function loadServings(model_names: readonly string[]): Promise<ReadonlyMap<string, Serving>> {
  const found = new Map<string, Serving>();
  for (const model_name of model_names) {
    const serving = await findServing(model_name);
    if (serving !== undefined) found.set(model_name, serving);
  }
  return found;
}

const noServings: ReadonlyMap<string, Serving> = new Map();

/** Plot of a model's versions, the chosen one beside it, and their table. */
function Versions({
  model,
  family,
  onChange,
  onSets,
}: {
  model: ModelDetails;
  family: readonly Relative<Compression>[];
  onChange: () => Promise<void>;
  onSets: (() => void) | undefined;
}) {
  const { model_name } = model;
  const asked = place.value.query.get('strategy') ?? undefined;
  const compression =
    asked === originalId
      ? undefined
      : (family.find(({ strategy_id }) => strategy_id === asked) ?? family.at(-1));
  const chosen = compression?.strategy_id ?? originalId;
  const receipts = useReceipts(family, chosen);
  const served = [...new Set([model_name, ...family.map((one) => one.model_name)])];
  const servings = useLive(`servings/${served.join()}`, () => loadServings(served));
  const measured = family.flatMap((one) => {
    const receipt: CompressionDetails['receipt'] = receipts.get(one.strategy_id)?.receipt ?? null;
    return receipt === null ? [] : [{ ...one, receipt }];
  });
  const quality = qualityOf(measured);
  const names = new Map([
    [originalId, originalId],
    ...family.map(({ strategy_id, path }) => [strategy_id, path] as const),
  ]);
  const shared = { names, onServing: servings.refresh };
  const mayPromote = servings.data !== undefined && model.status === 'ready' && mayChangeModel(model);
  const beside =
    compression === undefined ? (
      <OriginalPanel
        model={model}
        serving={servings.data?.get(model_name)}
        mayPromote={mayPromote}
        {...shared}
      />
    ) : (
      <VersionPanel
        compression={compression}
        details={receipts.get(chosen)}
        isAsked={asked === chosen}
        serving={servings.data?.get(compression.model_name)}
        mayPromote={mayPromote}
        onChange={onChange}
        {...shared}
      />
    );
  return (
    <div class="split receipt-beside">
      {family.length > 0 ? (
        <Tradeoff family={measured} quality={quality} chosen={chosen} />
      ) : (
        <section class="panel">
          <h2>Not compressed yet</h2>
          <p class="soft">
            A compression finds the smallest version within the loss that you allow, and a receipt says what
            it lost. The versions are then compared here.
          </p>
        </section>
      )}
      {beside}
      <VersionsTable
        model={model}
        family={family}
        receipts={receipts}
        quality={quality}
        servings={servings.data ?? noServings}
        chosen={chosen}
      />
      <Contents model={model} onSets={onSets} />
    </div>
  );
}

const trail = [{ name: 'Models', href: href(['models']) }];

/** Page of one model: its versions with their receipts, and what is in its file. */
export function ModelPage({ model_name }: { model_name: string }) {
  const live = useLive(`model/${model_name}`, () => loadModel(model_name));
  const family = useLive(`family/${model_name}`, async () => familyOf(await loadCompressions(), model_name), {
    every: (list) => (list.some(({ status }) => !isFinal(status)) ? 2_000 : undefined),
  });
  const [dialog, setDialog] = useState<'compress' | 'delete' | 'sets'>();
  const close = () => setDialog(undefined);
  return (
    <Loaded live={live} rows={8} page={{ what: 'model', trail }}>
      {(model) => {
        const isReady = model.status === 'ready';
        const mayChange = mayChangeModel(model);
        return (
          <>
            <PageHead trail={trail} title={model_name} below={<Lineage model={model} />}>
              {isReady && ownRights().mayCreate && (
                <Button kind="primary" onClick={() => setDialog('compress')}>
                  Compress
                </Button>
              )}
              {isReady && <LinkButton href={href(['models', model_name, 'serving'])}>Serving</LinkButton>}
              {mayChange && (
                <Button
                  kind="danger"
                  icon="trash"
                  label="Delete the model"
                  onClick={() => setDialog('delete')}
                />
              )}
            </PageHead>
            <Loaded live={family} rows={6} what="The versions could not be loaded">
              {(list) => (
                <Versions
                  model={model}
                  family={list}
                  onChange={family.refresh}
                  onSets={isReady && mayChange ? () => setDialog('sets') : undefined}
                />
              )}
            </Loaded>
            {dialog === 'compress' && (
              <CompressDialog model={model} onBegun={family.refresh} onClose={close} />
            )}
            {dialog === 'sets' && <SetsDialog model={model} onChange={live.refresh} onClose={close} />}
            {dialog === 'delete' && (
              <Confirm
                title="Delete this model?"
                action="Delete for ever"
                onClose={close}
                onConfirm={async () => {
                  await removeModel(model_name);
                  goOn(href(['models']));
                }}
              >
                <p>
                  <bdi>{model_name}</bdi> is deleted with its files. Results made from it stay.
                </p>
              </Confirm>
            )}
          </>
        );
      }}
    </Loaded>
  );
}
