import type { Experiment } from '../api/answers.ts';
import { receiptOf } from '../models/lineage/receipt-link.ts';
import { href } from '../ui/router.ts';
import { LongText } from '../ui/text/long-text.tsx';

type ModelExport = NonNullable<Experiment['model_export']>;

/** Where the model comes from: a page of the Hub, or an experiment of the same project. */
function SourceLink({ project_id, source }: { project_id: string; source: ModelExport['source'] }) {
  if ('hf' in source) {
    const { hf, revision } = source;
    const page = `https://huggingface.co/${hf}${revision === null ? '' : `/tree/${encodeURIComponent(revision)}`}`;
    return (
      <a href={page} target="_blank" rel="noreferrer">
        <bdi>{revision === null ? hf : `${hf}@${revision}`}</bdi>
      </a>
    );
  }
  return (
    <>
      <a href={href(['projects', project_id, 'experiments', source.experiment_id])}>{source.experiment_id}</a>
      {source.path !== '' && <bdi> {source.path}</bdi>}
    </>
  );
}

/** What an export reads, and what follows. Names are links once the models or the compression are there. */
export function ExportPanel({ project_id, model_export }: { project_id: string; model_export: ModelExport }) {
  const { source, model_name, result_name, strategy_id, reason } = model_export;
  const link = (name: string, address: string) =>
    strategy_id === null ? (
      <bdi>{name}</bdi>
    ) : (
      <a href={address}>
        <bdi>{name}</bdi>
      </a>
    );
  return (
    <section class="panel" aria-labelledby="export">
      <h2 id="export">Export</h2>
      <dl class="facts">
        <dt>Of</dt>
        <dd>
          <SourceLink project_id={project_id} source={source} />
        </dd>
        <dt>Registered as</dt>
        <dd>{link(model_name, href(['models', model_name]))}</dd>
        <dt>Compressed to</dt>
        <dd>{link(result_name, receiptOf({ model_name, strategy_id: strategy_id ?? '' }))}</dd>
        {reason !== null && (
          <>
            <dt>Not done, because</dt>
            <dd>
              <LongText text={reason} />
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}
