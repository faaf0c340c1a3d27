import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import type { Experiment } from '../api/answers.ts';
import { isFinal } from '../ui/states/status.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { costText, numberText, runDurationText } from '../ui/text/format.ts';

/** The few figures that a run is judged by. */
export const Figures = ({ experiment }: { experiment: Experiment }) => {
  const { best, metrics, duration, cost, cost_estimate, artifact_bytes, started_at, status } = experiment;
  const running = !isFinal(status) && started_at !== null;
  return (
    <dl class="figures compact">
      {(best !== null || Object.keys(metrics).length > 0) && (
        <div>
          <dt>{best === null ? 'Best value' : `Best ${best.metric}`}</dt>
          <dd>
            {numberText(best?.value)}
            {best?.step != null && <small> at step {numberText(best.step)}</small>}
          </dd>
        </div>
      )}
      {(running || duration !== null) && (
        <div>
          <dt>{running ? 'Started' : 'Duration'}</dt>
          <dd>{running ? <Ago time={started_at} /> : runDurationText(duration)}</dd>
        </div>
      )}
      {(cost ?? cost_estimate) !== null && (
        <div>
          <dt>{cost === null && cost_estimate !== null ? 'Cost at most' : 'Cost'}</dt>
          <dd>{costText(cost ?? cost_estimate)}</dd>
        </div>
      )}
      {artifact_bytes > 0 && (
        <div>
          <dt>Artifacts</dt>
          <dd>{bytesText(artifact_bytes)}</dd>
        </div>
      )}
    </dl>
  );
};
