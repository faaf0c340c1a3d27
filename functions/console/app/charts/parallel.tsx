import { useMemo, useState } from 'preact/hooks';
import type { Row } from '../experiments/row.ts';
import { useFirstOf } from '../ui/first-of.tsx';
import { Empty } from '../ui/parts.tsx';
import { numberText } from '../ui/text/format.ts';
import { lineColour, stylesOf } from './colours.ts';
import { LineSample } from './run-list.tsx';

const height = 360;
const top = 46;
const bottom = 30;
const gapMost = 150;
const gapLeast = 104;
/** Default width in pixels, which fits a page of 1280 pixels. */
const widthWanted = 940;

const side = 70;
/** Maximum number of labels of an axis of texts. The last one counts the others. */
const maxWords = 30;
/** Maximum number of axes to draw before the user chooses, and of outcomes among them. */
const drawnFirst = 10;
const outcomesFirst = 3;

interface Axis {
  name: string;
  isOutcome: boolean;
  /** Position of each experiment on the axis, from 0 at the bottom to 1 at the top; undefined without a value. */
  places: (number | undefined)[];
  low: string;
  high: string;
  /** Labels of an axis of texts. */
  words: readonly string[];
}

function axisOf(name: string, isOutcome: boolean, values: readonly (string | undefined)[]): Axis | undefined {
  const given = values.filter((value): value is string => value !== undefined);
  if (new Set(given).size < 2) return undefined;
  const numbers = values.map((value) =>
    value === undefined || value.trim() === '' ? Number.NaN : Number(value),
  );
  if (given.every((value) => value.trim() !== '' && Number.isFinite(Number(value)))) {
    const finite = numbers.filter(Number.isFinite);
    const [low, high] = [Math.min(...finite), Math.max(...finite)];
    // Use a logarithmic axis for positive values that span two powers of ten.
    const isLog = low > 0 && high / low >= 100;
    const scaled = (value: number) =>
      isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return {
      name,
      isOutcome,
      places: numbers.map((value) => (Number.isFinite(value) ? scaled(value) : undefined)),
      low: numberText(low),
      high: numberText(high),
      words: [],
    };
  }
  const words = [...new Set(given)].sort();
  return {
    name,
    isOutcome,
    places: values.map((value) =>
      value === undefined ? undefined : words.indexOf(value) / (words.length - 1),
    ),
    low: '',
    high: '',
    words,
  };
}

function axesOf(experiments: readonly Row[]): Axis[] {
  const names = (read: (one: Row) => object) =>
    [...new Set(experiments.flatMap((one) => Object.keys(read(one))))].sort();
  return [
    ...names(({ params }) => params).map((name) =>
      axisOf(
        name,
        false,
        experiments.map(({ params }) => params[name]),
      ),
    ),
    ...names(({ metrics }) => metrics).map((name) =>
      axisOf(
        name,
        true,
        experiments.map(({ metrics }) =>
          metrics[name] === undefined ? undefined : String(metrics[name].last),
        ),
      ),
    ),
  ].filter((axis): axis is Axis => axis !== undefined);
}

/** Choose the axes to draw first. Inputs come first, but up to three places stay free for outcomes. */
function usualAxes(all: readonly Axis[]): Set<string> {
  const given = all.filter(({ isOutcome }) => !isOutcome);
  const outcomes = all.filter(({ isOutcome }) => isOutcome);
  const rest = Math.max(outcomesFirst, drawnFirst - given.length);
  const shown = outcomes.slice(0, rest);
  return new Set([...given.slice(0, drawnFirst - shown.length), ...shown].map(({ name }) => name));
}

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** Parallel coordinates: one line per experiment through the values of its inputs and outcomes. */
export function Parallel({
  experiments,
  onOpen,
}: {
  experiments: readonly Row[];
  onOpen: (id: string) => void;
}) {
  const all = useMemo(() => axesOf(experiments), [experiments]);
  const usual = useMemo(() => usualAxes(all), [all]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>();
  const drawn = chosen ?? usual;
  const styles = stylesOf(experiments.map(({ experiment_id }) => experiment_id));
  const axes = all.filter(({ name }) => drawn.has(name));
  const [offered, moreAxes] = useFirstOf(all, 40, 'axes');
  if (all.length < 2) return <Empty title="The experiments do not differ in any value" icon="chart" />;
  const gap = Math.max(gapLeast, Math.min(gapMost, (widthWanted - side * 2) / Math.max(1, axes.length - 1)));
  const width = side * 2 + gap * (axes.length - 1);
  const y = (place: number) => height - bottom - place * (height - top - bottom);
  const path = (index: number): string => {
    let isDown = false;
    let out = '';
    for (const [at, { places }] of axes.entries()) {
      const place = places[index];
      if (place === undefined) {
        isDown = false;
        continue;
      }
      out += `${isDown ? 'L' : 'M'}${side + at * gap} ${y(place).toFixed(1)}`;
      isDown = true;
    }
    return out;
  };
  return (
    <>
      <div class="chips axes">
        {offered.map(({ name }) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={drawn.has(name)}
              onChange={({ currentTarget }) => {
                const next = new Set(drawn);
                if (currentTarget.checked) next.add(name);
                else next.delete(name);
                setChosen(next);
              }}
            />
            <bdi>{name}</bdi>
          </label>
        ))}
      </div>
      {axes.length < all.length && (
        <p class="soft small">
          {axes.length} of {all.length} axes are drawn. {moreAxes}
        </p>
      )}
      <div class="parallel panel" tabIndex={0} role="group" aria-label="Parallel coordinates">
        <svg
          viewBox={`0 0 ${width} ${height}`}
          width={width}
          height={height}
          role="img"
          aria-label="A line for each experiment; their names are below"
        >
          {experiments.map(({ experiment_id, name }, index) => (
            <g key={experiment_id} onClick={() => onOpen(experiment_id)} style={{ cursor: 'pointer' }}>
              <title>{name}</title>
              <path d={path(index)} stroke={`var(--${lineColour(styles.get(experiment_id) ?? 0)})`} />
            </g>
          ))}
          {axes.map(({ name, low, high, words }, at) => (
            <g key={name}>
              <line class="axis" x1={side + at * gap} x2={side + at * gap} y1={top} y2={height - bottom} />
              <text class="name" x={side + at * gap} y={16} text-anchor="middle">
                {cut(name, 20)}
              </text>
              <text x={side + at * gap} y={top - 8} text-anchor="middle">
                {high}
              </text>
              <text x={side + at * gap} y={height - bottom + 18} text-anchor="middle">
                {low}
              </text>
              {words.slice(0, maxWords).map((word, index) => (
                <text key={word} class="word" x={side + at * gap + 6} y={y(index / (words.length - 1)) + 4}>
                  {cut(word, 16)}
                </text>
              ))}
              {words.length > maxWords && (
                <text class="word" x={side + at * gap + 6} y={top + 4}>
                  and {words.length - maxWords} more
                </text>
              )}
            </g>
          ))}
        </svg>
      </div>
      <ul class="legend in-rows">
        {experiments.map(({ experiment_id, name }) => (
          <li key={experiment_id}>
            <LineSample style={styles.get(experiment_id) ?? 0} />
            <bdi class="ellipsis" title={name}>
              {name}
            </bdi>
          </li>
        ))}
      </ul>
    </>
  );
}
