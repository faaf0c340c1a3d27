import { useState } from 'preact/hooks';
import { Dialog } from '../../ui/controls/dialog.tsx';
import { SelectField } from '../../ui/controls/field.tsx';
import { Form } from '../../ui/controls/form.tsx';
import { nameMatcher } from '../../ui/text/name-matcher.ts';
import type { Panel } from './layout.ts';
import { addPanel } from './panel-view.ts';

const kinds = {
  lines: 'curves of several metrics',
  scatter: 'last values of one metric by another',
  bars: 'last values as bars',
} as const;

const maxShown = 200;

/** Dialog to put a chart together. */
export function PanelDialog({ metrics, onClose }: { metrics: readonly string[]; onClose: () => void }) {
  const [kind, setKind] = useState<Panel['kind']>('lines');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const options = { '': 'Choose a metric', ...Object.fromEntries(metrics.map((name) => [name, name])) };
  const [x = '', y = ''] = chosen;
  return (
    <Dialog title="Add a panel" onClose={onClose}>
      <Form
        action="Add the panel"
        isReady={chosen.length > 0 && !chosen.includes('')}
        onSubmit={async () => {
          addPanel({ kind, metrics: chosen });
          onClose();
        }}
      >
        <SelectField
          label="It shows"
          options={kinds}
          value={kind}
          onChoose={(next) => {
            setKind(next);
            setChosen([]);
          }}
        />
        {kind === 'scatter' ? (
          <div class="field-row">
            <SelectField
              label="Vertical axis"
              options={options}
              value={y}
              onChoose={(next) => setChosen([x, next])}
            />
            <SelectField
              label="Horizontal axis"
              options={options}
              value={x}
              onChoose={(next) => setChosen([next, y])}
            />
          </div>
        ) : (
          <MetricBoxes metrics={metrics} chosen={chosen} onChange={setChosen} />
        )}
      </Form>
    </Dialog>
  );
}

function MetricBoxes({
  metrics,
  chosen,
  onChange,
}: {
  metrics: readonly string[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}) {
  const [typed, setTyped] = useState('');
  const matching = metrics.filter(nameMatcher(typed));
  return (
    <fieldset>
      <legend>Metrics</legend>
      {metrics.length > 12 && (
        <input
          type="search"
          aria-label="Find a metric for the panel"
          placeholder="Find a metric"
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      )}
      <div class="panel-metrics">
        {matching.slice(0, maxShown).map((name) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              onChange={({ currentTarget }) =>
                onChange(
                  currentTarget.checked ? [...chosen, name] : chosen.filter((metric) => metric !== name),
                )
              }
            />
            <bdi class="ellipsis">{name}</bdi>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
