import type { ComponentChildren } from 'preact';
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

/** Facts about an export: its source, and what follows. Names are links once the models or the compression are there. */
export function exportRows(
  project_id: string,
  { source, model_name, result_name, strategy_id, reason }: ModelExport,
): [string, ComponentChildren][] {
  const rows: [string, ComponentChildren][] = [
    ['Exports', <SourceLink key="e" project_id={project_id} source={source} />],
    [
      'Registered as',
      strategy_id === null ? (
        <bdi>{model_name}</bdi>
      ) : (
        <a href={href(['models', model_name])}>
          <bdi>{model_name}</bdi>
        </a>
      ),
    ],
    [
      'Compressed to',
      strategy_id === null ? (
        <bdi>{result_name}</bdi>
      ) : (
        <a href={receiptOf({ model_name, strategy_id })}>
          <bdi>{result_name}</bdi>
        </a>
      ),
    ],
  ];
  if (reason !== null) rows.push(['Not done, because', <LongText key="r" text={reason} />]);
  return rows;
}
