import { useState } from 'preact/hooks';
import { Button } from '../ui/controls/button.tsx';
import { Dialog } from '../ui/controls/dialog.tsx';
import { Field } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { type Drawn, exportPng, exportSvg } from './export.ts';
import { enlarge, pinChart, setYRange, yRangeOf } from './view.ts';

/** Buttons of a chart: pin, enlarge, vertical range and export. */
export function ChartTools({
  name,
  isPinned,
  isEnlarged,
  drawn,
}: {
  name: string;
  isPinned: boolean;
  isEnlarged: boolean;
  drawn: () => Drawn;
}) {
  const [isRanging, setRanging] = useState(false);
  return (
    <>
      {!isEnlarged && (
        <>
          <Button
            kind="quiet"
            icon={isPinned ? 'pinned' : 'pin'}
            label={isPinned ? `Unpin ${name}` : `Pin ${name}`}
            pressed={isPinned}
            onClick={() => pinChart(name)}
          />
          <Button kind="quiet" icon="expand" label={`Enlarge ${name}`} onClick={() => enlarge(name)} />
        </>
      )}
      <details class="menu">
        <summary aria-label={`More for the chart of ${name}`} title="More">
          <svg class="icon" width="16" height="16" viewBox="0 0 20 20" aria-hidden="true">
            <path d="M4 10v.01M10 10v.01M16 10v.01" stroke-width="2.6" />
          </svg>
        </summary>
        <div>
          <button type="button" onClick={() => setRanging(true)}>
            Y range…
          </button>
          <button type="button" onClick={() => exportPng(drawn())}>
            PNG
          </button>
          <button type="button" onClick={() => exportSvg(drawn())}>
            SVG
          </button>
        </div>
      </details>
      {isRanging && <YRangeDialog name={name} onClose={() => setRanging(false)} />}
    </>
  );
}

/** Dialog for the vertical range of a chart. */
function YRangeDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const [low, high] = yRangeOf(name) ?? [];
  const [from, setFrom] = useState(low === undefined ? '' : String(low));
  const [to, setTo] = useState(high === undefined ? '' : String(high));
  const isGiven = from.trim() !== '' && to.trim() !== '';
  const isRange = isGiven && Number(from) < Number(to);
  return (
    <Dialog title={`Y range of ${name}`} onClose={onClose}>
      <Form
        action="Set the range"
        isReady={isRange}
        onSubmit={async () => {
          setYRange(name, [Number(from), Number(to)]);
          onClose();
        }}
      >
        <Field label="From">
          {(attributes) => (
            <input
              {...attributes}
              inputMode="decimal"
              value={from}
              onInput={({ currentTarget }) => setFrom(currentTarget.value)}
            />
          )}
        </Field>
        <Field label="To" {...(isGiven && !isRange && { error: 'Two numbers, the greater one here.' })}>
          {(attributes) => (
            <input
              {...attributes}
              inputMode="decimal"
              value={to}
              onInput={({ currentTarget }) => setTo(currentTarget.value)}
            />
          )}
        </Field>
      </Form>
      <footer>
        <Button
          onClick={() => {
            setYRange(name, undefined);
            onClose();
          }}
        >
          Automatic
        </Button>
      </footer>
    </Dialog>
  );
}
