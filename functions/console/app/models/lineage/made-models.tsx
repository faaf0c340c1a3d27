import { bytesText } from '../../../../../shared/core/text/bytes-text.ts';
import type { Experiment } from '../../api/answers.ts';
import { loadCompressions, loadModels, type Model } from '../../api/models.ts';
import { useLive } from '../../api/use-live.ts';
import { href } from '../../ui/router.ts';
import { useShowMore } from '../../ui/show-more.tsx';
import { isFinal } from '../../ui/states/status.tsx';
import { bytesOf } from '../result-bytes.ts';
import { familyOf } from './family.ts';
import { receiptOf } from './receipt-link.ts';

type Descendant = Awaited<ReturnType<typeof loadDescendants>>[number];

/** Load the models that were registered from an experiment, with their compressed versions. */
async function loadDescendants(experiment_id: string) {
  const models = (await loadModels()).filter(
    ({ origin }) => origin.kind === 'artifact' && origin.experiment_id === experiment_id,
  );
  // Most experiments have no model, and compressions of the whole deployment are a longer list.
  const compressions = models.length === 0 ? [] : await loadCompressions();
  return models.map((model: Model) => ({
    model,
    versions: familyOf(compressions, model.model_name),
  }));
}

/** Whether a version of a model is still being made. */
const isGrowing = ({ versions }: Descendant): boolean => versions.some(({ status }) => !isFinal(status));
const growingMilliseconds = 10_000;

function Versions({ versions }: Pick<Descendant, 'versions'>) {
  const [shown, more] = useShowMore(versions.toReversed(), 8, 'versions');
  return (
    <ul class="descent">
      {shown.map((version) => (
        <li key={version.strategy_id}>
          <a href={receiptOf(version)}>{version.path}</a>
          <span class="soft number">{bytesText(bytesOf(version))}</span>
        </li>
      ))}
      {more && <li>{more}</li>}
    </ul>
  );
}

/** Models of an experiment and their compressed versions. Nothing while there is none. */
export function MadeModels({
  experiment: { experiment_id, artifacts, model_export },
}: {
  experiment: Experiment;
}) {
  const live = useLive(
    `descendants/${experiment_id}/${artifacts}/${model_export?.strategy_id ?? ''}`,
    async () => (artifacts === 0 ? [] : loadDescendants(experiment_id)),
    { isKept: true, every: (models) => (models.some(isGrowing) ? growingMilliseconds : undefined) },
  );
  const found = live.data ?? [];
  if (found.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="made-models">
      <h2 id="made-models">Models</h2>
      {found.map(({ model, versions }) => (
        <div key={model.model_id} class="descendant">
          <div class="descent-head">
            <a href={href(['models', model.model_name])}>
              <bdi>{model.model_name}</bdi>
            </a>
            <span class="soft number">{bytesText(model.bytes)}</span>
          </div>
          <Versions versions={versions.filter(({ status }) => status === 'SUCCEEDED')} />
        </div>
      ))}
    </section>
  );
}
