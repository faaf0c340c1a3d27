import { loadExperiment } from '../../api/experiments.ts';
import { loadModel, type ModelDetails } from '../../api/models.ts';
import { useLive } from '../../api/use-live.ts';
import { Icon } from '../../ui/icon.tsx';
import { href } from '../../ui/router.ts';
import { numberText } from '../../ui/text/format.ts';
import { ancestryOf } from './ancestry.ts';
import { receiptOf } from './receipt-link.ts';

type OfArtifact = Extract<ModelDetails['origin'], { kind: 'artifact' }>;

/** Link to the experiment that wrote a model's file, with its best value. */
export function SourceExperiment({ project_id, experiment_id, path }: OfArtifact) {
  const live = useLive(`experiment/${experiment_id}`, () => loadExperiment({ project_id, experiment_id }), {
    isKept: true,
  });
  const { name = experiment_id, best } = live.data ?? {};
  if (live.data === undefined && live.error !== undefined)
    return <span class="soft">experiment {experiment_id}, which is not there any more</span>;
  return (
    <span>
      <a
        href={href(['projects', project_id, 'experiments', experiment_id], { tab: 'artifacts', file: path })}
      >
        <bdi>{name}</bdi>
      </a>
      {best != null && (
        <span class="soft">
          {' '}
          {best.metric} {numberText(best.value)}
        </span>
      )}
    </span>
  );
}

/** Line of a model's origin: its experiment, and the models from which it was compressed. */
export function Lineage({ model }: { model: ModelDetails }) {
  const { model_name, owner } = model;
  const live = useLive(`ancestry/${model_name}`, () => ancestryOf(model, loadModel), { isKept: true });
  if (live.data === undefined) return null;
  const { ancestors, origin } = live.data;
  return (
    <nav class="lineage" aria-label="Origin of the model">
      <ol>
        <li>
          {origin === undefined ? (
            <span class="soft">a deleted model</span>
          ) : origin.kind === 'artifact' ? (
            <>
              <span class="soft">Experiment</span> <SourceExperiment {...origin} />
            </>
          ) : (
            <span class="soft">
              Uploaded by <bdi>{owner ?? 'a deleted user'}</bdi>
            </span>
          )}
        </li>
        {ancestors.map((ancestor) => (
          <li key={ancestor.strategy_id}>
            <Icon name="right" size={12} />
            <a href={receiptOf(ancestor)}>
              <bdi>{ancestor.model_name}</bdi>
            </a>
          </li>
        ))}
        <li aria-current="true">
          <Icon name="right" size={12} />
          <bdi>{model_name}</bdi>
        </li>
      </ol>
    </nav>
  );
}
