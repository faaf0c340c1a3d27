import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import type { Receipt } from '../api/models.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { durationText, latencyText, numberText } from '../ui/text/format.ts';

interface Bar {
  name: string;
  before: number;
  after: number;
  show: (value: number) => string;
}

function barsOf({
  file_bytes,
  gzip_bytes,
  nonzero_parameters,
  parameters,
  latency,
  accuracy,
}: Receipt): Bar[] {
  const bar = (
    name: string,
    values: { before?: number | undefined; after?: number | undefined } | null | undefined,
    show: (value: number) => string,
  ): Bar[] => {
    const { before, after } = values ?? {};
    return before === undefined || after === undefined ? [] : [{ name, before, after, show }];
  };
  return [
    ...bar('File', file_bytes, bytesText),
    ...bar('File, gzip', gzip_bytes, bytesText),
    ...bar('Parameters', parameters, numberText),
    ...bar('Not zero', nonzero_parameters, numberText),
    ...bar('Latency, p50', latency?.p50, latencyText),
    ...bar('Accuracy', accuracy, numberText),
  ];
}

/** Receipt of a compression: the model before and after, and the unchanged parts. */
export function ReceiptView({ receipt }: { receipt: Receipt }) {
  const {
    summary = [],
    is_useless,
    warnings,
    notes,
    kept,
    suggestions = [],
    outputs,
    stages,
    run_as_whole,
    checked_layers,
    compared_on,
    onnx_runtime,
  } = receipt;
  const [verdict, ...reasons] = summary;
  const [shownOutputs, moreOutputs] = useShowMore(outputs, 12, 'outputs');
  const [shownKept, moreKept] = useShowMore(kept, 200, 'parts');
  return (
    <div class="receipt">
      {is_useless && <p class="problem">{verdict}</p>}
      {warnings.length > 0 && (
        <ul class="cautions">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      <div class="receipt-bars">
        {barsOf(receipt).map(({ name, before, after, show }) => {
          const most = Math.max(before, after) || 1;
          return (
            <div key={name} class="receipt-bar">
              <span>{name}</span>
              <span class="bars" aria-hidden="true">
                <span style={{ width: `${(before / most) * 100}%` }} />
                <span style={{ width: `${(after / most) * 100}%` }} />
              </span>
              <span class="values">
                <span class="soft">{show(before)} →</span> <strong>{show(after)}</strong>
              </span>
            </div>
          );
        })}
      </div>
      {(is_useless ? reasons : summary).map((line) => (
        <p key={line} class="small">
          {line}
        </p>
      ))}
      <dl class="facts receipt-facts">
        {shownOutputs.map(({ name, relative_l2_error, why }) => (
          <div key={name} class="fact">
            <dt>
              Error of <bdi>{name}</bdi>
            </dt>
            <dd>
              {relative_l2_error === null ? (why ?? '–') : `${numberText(relative_l2_error)} (relative L2)`}
            </dd>
          </div>
        ))}
        <div class="fact">
          <dt>Compared on</dt>
          <dd>
            {compared_on !== null && run_as_whole
              ? `${compared_on.samples} ${compared_on.source} samples`
              : checked_layers.length > 0
                ? 'layers alone, not run as a whole'
                : 'nothing'}
          </dd>
        </div>
        <div class="fact">
          <dt>Needs</dt>
          <dd>ONNX Runtime {onnx_runtime.needed}</dd>
        </div>
        <div class="fact">
          <dt>Took</dt>
          <dd>{durationText(stages.reduce((sum, { seconds }) => sum + seconds, 0))}</dd>
        </div>
      </dl>
      {moreOutputs}
      {suggestions.length > 0 && (
        <div class="small">
          <strong>What to try next</strong>
          <ul class="points">
            {suggestions.map((suggestion) => (
              <li key={suggestion}>{suggestion}</li>
            ))}
          </ul>
        </div>
      )}
      {notes.length > 0 && (
        <ul class="points soft small">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {kept.length > 0 && (
        <details class="graph-fold">
          <summary>{kept.length} parts are unchanged</summary>
          <table class="data">
            <tbody>
              {shownKept.map(({ what, why }, index) => (
                <tr key={index}>
                  <th scope="row">
                    <bdi>{what}</bdi>
                  </th>
                  <td>{why}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {moreKept}
        </details>
      )}
    </div>
  );
}
