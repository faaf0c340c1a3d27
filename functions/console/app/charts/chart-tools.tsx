import { useContext, useState } from 'preact/hooks';
import { Button } from '../ui/controls/button.tsx';
import { Dialog } from '../ui/controls/dialog.tsx';
import { Field } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { Menu } from '../ui/controls/menu.tsx';
import { Icon } from '../ui/icon.tsx';
import { attempt } from '../ui/states/notice.tsx';
import { ChartReports, type SeenChart } from './chart-report.ts';
import { type Drawn, exportCsv, exportPng, exportSvg } from './export.ts';
import { removePanel } from './panels/panel-view.ts';
import { PlaceActions } from './panels/place-actions.tsx';
import { enlarge, linkTo, pinChart, setYRange, yRangeOf } from './view.ts';

const copyLink = (name: string): Promise<boolean> =>
  attempt(() => navigator.clipboard.writeText(linkTo(name)), 'The link to this chart is copied.');

/** Buttons of a chart: pin, enlarge, vertical range and export. */
export function ChartTools({
  name,
  title = name,
  isPinned,
  isPanel = false,
  isEnlarged,
  among = [],
  seen,
  drawn,
}: {
  name: string;
  /** What the chart is called; its name by default. */
  title?: string;
  isPinned: boolean;
  /** Whether somebody put it together. */
  isPanel?: boolean;
  isEnlarged: boolean;
  /** Charts of its section, in their order; empty if it has no place among others. */
  among?: readonly string[];
  /** What a report shows of it; undefined for means of groups. */
  seen?: SeenChart | undefined;
  drawn: () => Drawn;
}) {
  const toReport = useContext(ChartReports);
  const [isRanging, setRanging] = useState(false);
  return (
    <>
      {!isEnlarged && !isPanel && (
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
      <Menu label={`More for the chart of ${title}`} button={<Icon name="dots" />}>
        <button type="button" onClick={() => setRanging(true)}>
          Y range…
        </button>
        <button type="button" onClick={() => exportPng(drawn())}>
          PNG
        </button>
        <button type="button" onClick={() => exportSvg(drawn())}>
          SVG
        </button>
        <button type="button" onClick={() => exportCsv(drawn())}>
          CSV
        </button>
        <button type="button" onClick={() => void copyLink(name)}>
          Copy link
        </button>
        {toReport !== undefined && seen !== undefined && (
          <button type="button" onClick={() => toReport(seen)}>
            Add to a report…
          </button>
        )}
        {among.length > 0 && <PlaceActions name={name} among={among} />}
        {isPanel && (
          <button type="button" onClick={() => removePanel(name)}>
            Remove
          </button>
        )}
      </Menu>
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
