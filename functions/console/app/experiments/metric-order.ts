import { type MeasuredOn, readMetricName } from '../../../../shared/metrics/metric-name.ts';

/** Sort metrics for display: validation metrics first, counters and learning rates last. */
export const inOrder = (names: readonly string[]): string[] =>
  names
    .map((name) => ({ name, place: placeOf(name) }))
    .sort((one, other) => one.place - other.place)
    .map(({ name }) => name);

function placeOf(name: string): number {
  const { on, metric, ofStep } = readMetricName(name);
  return counters.test(metric) ? 4 : places.indexOf(on) + (ofStep ? 0.5 : 0);
}

const places: readonly MeasuredOn[] = ['validation', 'test', null, 'training'];

/** Progress values that programs log. They are no results. */
const counters = /^(?:epoch|step|globalstep|lr|learningrate)$/;
