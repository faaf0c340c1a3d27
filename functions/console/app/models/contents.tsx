import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import type { ModelDetails } from '../api/models.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { numberText, plural } from '../ui/text/format.ts';

type Inspected = NonNullable<ModelDetails['inspection']>;

const Tensors = ({ list, what }: { list: Inspected['inputs']; what: string }) => {
  const [shown, more] = useShowMore(list, 12, what);
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
  const [shown, more] = useShowMore(
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

/** Facts of a model's file: size, tensors, operators and data sets. */
export const Contents = ({ model, onSets }: { model: ModelDetails; onSets: (() => void) | undefined }) => {
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
