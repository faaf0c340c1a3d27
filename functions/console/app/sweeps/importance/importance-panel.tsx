import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Axis } from '../../charts/values/axis.ts';
import { Problem } from '../../ui/states/problem.tsx';
import { Skeleton } from '../../ui/states/skeleton.tsx';
import { plural } from '../../ui/text/format.ts';
import { forestRows, parameterImportance, trialsNeeded } from './parameter-importance.ts';
import type { Importance } from './random-forest.ts';

/** Which parameters decide on the metric, by the trials so far. */
export function ImportancePanel({ inputs, outcome }: { inputs: readonly Axis[]; outcome: Axis }) {
  const count = outcome.units.filter((unit) => unit !== undefined).length;
  const needed = trialsNeeded(inputs.length);
  const { importance, error } = useImportance(inputs, outcome, count >= needed ? count : undefined);
  const found = useMemo(
    () => parameterImportance(inputs, outcome, importance),
    [inputs, outcome, importance],
  );
  return (
    <section aria-label="Importance of the parameters">
      <h2>
        What matters for <bdi>{outcome.name}</bdi>
      </h2>
      {error !== undefined && <Problem error={error} what="The importance could not be computed" />}
      {count < needed && (
        <p class="soft hint-line">
          Too few trials to say: {plural(count, 'trial')} {count === 1 ? 'has' : 'have'} a value, {needed} are
          needed.
        </p>
      )}
      {count >= needed && importance === undefined && error === undefined && (
        <Skeleton rows={inputs.length} />
      )}
      {importance !== undefined && found.every(({ share }) => share === undefined) && (
        <p class="soft hint-line">
          These {count.toLocaleString('en')} trials do not show that a parameter matters.
        </p>
      )}
      {(importance !== undefined || count < needed) && (
        <ImportanceTable found={found} metric={outcome.name} />
      )}
    </section>
  );
}

function ImportanceTable({
  found,
  metric,
}: {
  found: ReturnType<typeof parameterImportance>;
  metric: string;
}) {
  const hasShares = found.some(({ share }) => share !== undefined);
  return (
    <table class="importance">
      <thead>
        <tr>
          <th scope="col">Parameter</th>
          {hasShares && (
            <th scope="col" title="How much worse a random forest predicts the metric without the parameter">
              Importance
            </th>
          )}
          <th scope="col" class="number" title="Spearman's rank correlation with the metric, from −1 to 1">
            Rank correlation
          </th>
        </tr>
      </thead>
      <tbody>
        {found.map(({ name, share, correlation }) => (
          <tr key={name}>
            <th scope="row">
              <bdi>{name}</bdi>
            </th>
            {hasShares && (
              <td>
                <span class="importance-bar">
                  <i style={{ width: `${100 * (share ?? 0)}%` }} />
                  <span class="number">{Math.round(100 * (share ?? 0))} %</span>
                </span>
              </td>
            )}
            <td class="number" title={correlationText(name, correlation, metric)}>
              {correlation === undefined ? <span class="none">–</span> : signed(correlation)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;

function correlationText(name: string, correlation: number | undefined, metric: string): string {
  if (correlation === undefined) return `${name} has no order, so it has no rank correlation.`;
  return `A higher ${name} goes with a ${correlation < 0 ? 'lower' : 'higher'} ${metric}.`;
}

/**
 * Compute importance in a worker, anew once more trials have a value.
 * @param count trials with a value; undefined if they are too few
 */
function useImportance(inputs: readonly Axis[], outcome: Axis, count: number | undefined) {
  const [state, setState] = useState<{ importance?: Importance; error?: unknown }>({});
  const names = inputs.map(({ name }) => name).join('\n');
  useEffect(() => {
    if (count === undefined) return undefined;
    const ending = new AbortController();
    import('./importance-worker.ts')
      .then(({ importanceInWorker }) => importanceInWorker(forestRows(inputs, outcome), ending.signal))
      .then((importance) => setState({ importance }))
      .catch((error: unknown) => {
        if (!ending.signal.aborted) setState({ error });
      });
    return () => ending.abort();
  }, [count, names, outcome.name]);
  return state;
}
