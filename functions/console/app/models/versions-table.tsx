import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import type { Compression, CompressionDetails, ModelDetails } from '../api/models.ts';
import type { Serving } from '../api/serving.ts';
import { Headings } from '../ui/listing.tsx';
import { href } from '../ui/router.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { isFinal, Status } from '../ui/states/status.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { numberText } from '../ui/text/format.ts';
import { AliasChips } from './alias-chips.tsx';
import { aliasesOf } from './aliases.ts';
import { type Relative, ratioToModel } from './lineage/family.ts';
import { SourceExperiment } from './lineage/lineage.tsx';
import { bytesOf } from './result-bytes.ts';
import type { Quality } from './tradeoff/quality.ts';
import { originalId } from './tradeoff/tradeoff-points.ts';

const maxRows = 50;

interface Shown {
  model: ModelDetails;
  family: readonly Relative<Compression>[];
  receipts: ReadonlyMap<string, CompressionDetails>;
  quality: Quality;
  servings: ReadonlyMap<string, Serving>;
  chosen: string;
}

/** Whether a version has an alias, or a status to tell. */
function hasMarks({ model, family, servings }: Shown): boolean {
  const isServed = (model_name: string, id: string) => aliasesOf(servings.get(model_name), id).length > 0;
  return (
    isServed(model.model_name, originalId) ||
    family.some(
      ({ status, model_name, strategy_id }) => status !== 'SUCCEEDED' || isServed(model_name, strategy_id),
    )
  );
}

const ratioText = (ratio: number | undefined): string =>
  ratio === undefined ? '' : `${(1 / ratio).toFixed(2)}×`;

function Row({
  compression,
  shown,
  isMarked,
}: {
  compression: Relative<Compression>;
  shown: Shown;
  /** Whether the table has a column for aliases. */
  isMarked: boolean;
}) {
  const { model, receipts, quality, servings, chosen } = shown;
  const { strategy_id, status, progress, path, registered, result_name } = compression;
  const receipt = receipts.get(strategy_id)?.receipt ?? undefined;
  const isThere = status === 'SUCCEEDED';
  // Likeness to a result says nothing of the model.
  const value =
    receipt && (quality.isAccuracy || compression.isOwn) ? quality.of(receipt, 'after') : undefined;
  const ratio = ratioToModel(compression, (id) => receipts.get(id)?.receipt?.latency?.ratio);
  return (
    <tr aria-current={strategy_id === chosen ? 'true' : undefined}>
      <th scope="row">
        <a href={href(['models', model.model_name], { strategy: strategy_id })}>{path}</a>
        {registered === true && result_name !== null && (
          <span class="soft small also">
            also model{' '}
            <a href={href(['models', result_name])}>
              <bdi>{result_name}</bdi>
            </a>
          </span>
        )}
      </th>
      {isMarked && (
        <td>
          {isThere ? (
            <span class="chips">
              <AliasChips aliases={aliasesOf(servings.get(compression.model_name), strategy_id)} />
            </span>
          ) : (
            <>
              <Status status={status} />
              {progress !== null && !isFinal(status) && (
                <span class="soft small"> {Math.round(progress.fraction * 100)} %</span>
              )}
            </>
          )}
        </td>
      )}
      <td class="right">{value === undefined ? '' : numberText(value)}</td>
      <td class="right">{isThere ? bytesText(bytesOf(compression)) : ''}</td>
      <td class="right only-wide">{ratioText(ratio)}</td>
      <td class="soft small only-wide">
        <Ago time={compression.created_at} />
      </td>
    </tr>
  );
}

/** Versions of a model, newest first: its compressed forms, and the original last. */
export function VersionsTable(shown: Shown) {
  const { model, family, receipts, quality, servings, chosen } = shown;
  const { model_name, origin, bytes, created_at } = model;
  const isMarked = hasMarks(shown);
  const [rows, more] = useShowMore(family.toReversed(), maxRows, 'versions');
  const measured = family
    .filter(({ isOwn }) => isOwn)
    .flatMap(({ strategy_id }) => receipts.get(strategy_id)?.receipt ?? []);
  const before = measured.map((receipt) => quality.of(receipt, 'before')).find((one) => one !== undefined);
  return (
    <section class="panel" aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <div class="scroll-x">
        <table class="data versions model-versions">
          <Headings
            of={[
              'Version',
              ...(isMarked ? ['Aliases'] : []),
              { name: quality.isAccuracy ? 'Accuracy' : 'Likeness', class: 'right' },
              { name: 'Size', class: 'right' },
              { name: 'Speed', class: 'right only-wide' },
              { name: 'Made', class: 'only-wide' },
            ]}
          />
          <tbody>
            {rows.map((compression) => (
              <Row
                key={compression.strategy_id}
                compression={compression}
                shown={shown}
                isMarked={isMarked}
              />
            ))}
            <tr aria-current={chosen === originalId ? 'true' : undefined}>
              <th scope="row">
                <a href={href(['models', model_name], { strategy: originalId })}>{originalId}</a>
                {origin.kind === 'artifact' && (
                  <span class="soft small also">
                    of <SourceExperiment {...origin} />
                  </span>
                )}
              </th>
              {isMarked && (
                <td>
                  <span class="chips">
                    <AliasChips aliases={aliasesOf(servings.get(model_name), originalId)} />
                  </span>
                </td>
              )}
              <td class="right">{before === undefined ? '' : numberText(before)}</td>
              <td class="right">{bytesText(bytes)}</td>
              <td class="right only-wide">
                {measured.some(({ latency }) => latency !== null) ? '1.00×' : ''}
              </td>
              <td class="soft small only-wide">
                <Ago time={created_at} />
              </td>
            </tr>
          </tbody>
        </table>
      </div>
      {more}
    </section>
  );
}
