import { type JudgedBy, metricGoal } from '../../../../shared/metrics/criteria.ts';
import type { Comparison } from '../api/projects.ts';
import { costText, isNumberText, numberText, runDurationText } from '../ui/text/format.ts';
import { type Difference, differenceFrom } from './difference.ts';
import { inOrder } from './metric-order.ts';
import { metricOf, type Row } from './row.ts';

/** Return the lines of a comparison: metrics, params, tags, and what else is known of the experiments. */
export function comparisonLines(
  comparison: Comparison,
  rows: readonly Row[],
  judge: JudgedBy | undefined,
): Line[] {
  const part = (group: string, of: Parameters<typeof linesOfPart>[1], show: (value: Value) => string) =>
    linesOfPart(group, of, rows.length, show);
  const metrics = new Map(
    part('Metrics', comparison.metrics, numberText).map((line): [string, Line] => [line.name, line]),
  );
  const known = linesOfPart(
    'Experiment',
    comparison.attributes,
    rows.length,
    (value, name) => attributes[name]?.show(value) ?? '',
  ).flatMap((line) => {
    const name = attributes[line.name]?.name;
    return name === undefined ? [] : [{ ...line, name }];
  });
  const measured = [
    { name: 'duration', values: rows.map(({ duration }) => runDurationText(duration)) },
    { name: 'cost', values: rows.map(({ cost }) => costText(cost)) },
  ].map((line) => ({ ...line, group: 'Experiment', isNumber: true }));
  return [
    ...inOrder([...metrics.keys()], judge).flatMap((name) => metrics.get(name) ?? []),
    ...part('Params', comparison.params, plain),
    ...part('Tags', comparison.tags, plain),
    ...measured.filter(({ values }) => values.some((value) => value !== '–')),
    ...known,
  ];
}

/** A value of each experiment of a comparison. */
interface Line {
  group: string;
  name: string;
  values: (string | undefined)[];
  isNumber: boolean;
}

type Value = string | number | null;
const shorter = (hash: Value): string => String(hash).slice(0, 7);
const plain = (value: Value): string => String(value);

/** Attributes to show in the comparison. The head shows the state. */
const attributes: Readonly<Record<string, { name: string; show(value: Value): string }>> = {
  kind: { name: 'kind', show: plain },
  config_id: { name: 'configuration', show: plain },
  config_version: { name: 'version of the configuration', show: plain },
  command: { name: 'command', show: plain },
  git_commit: { name: 'commit', show: shorter },
  source_sha256: { name: 'source', show: shorter },
  dataset: { name: 'data set', show: plain },
  dataset_sha256: { name: 'content of the data set', show: shorter },
  lock_hash: { name: 'dependencies', show: shorter },
  vcpus: { name: 'vCPUs', show: plain },
  memory: { name: 'memory, MiB', show: plain },
  gpus: { name: 'GPUs', show: plain },
  nodes: { name: 'nodes', show: plain },
};

/** Return the lines of a part of a comparison, by name. */
function linesOfPart(
  group: string,
  { differ, equal }: { differ: Readonly<Record<string, Value[]>>; equal: Readonly<Record<string, Value>> },
  count: number,
  show: (value: Value, name: string) => string,
): Line[] {
  const all = [
    ...Object.entries(differ),
    ...Object.entries(equal).map(([name, value]): [string, Value[]] => [name, new Array(count).fill(value)]),
  ];
  return all
    .filter(([, values]) => values.some((value) => value !== null))
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, values]) => ({
      group,
      name,
      isNumber: values.every((value) => value === null || isNumberText(String(value))),
      values: values.map((value) => (value === null ? undefined : show(value, name))),
    }));
}

/** Return whether the experiments differ in a line. */
export const differs = ({ values }: Line): boolean => new Set(values).size > 1;

/**
 * Return the indexes of the best values of a metric; none if the goal is unknown, as for a learning rate, or if
 * there is only one value.
 */
export function bestOf(
  { group, name }: Line,
  rows: readonly Row[],
  judge: JudgedBy | undefined,
): ReadonlySet<number> {
  const goal = group === 'Metrics' ? metricGoal(name, judge) : undefined;
  const numbers = rows.map((row) => metricOf(row, name) ?? Number.NaN);
  const finite = numbers.filter(Number.isFinite);
  if (goal === undefined || finite.length < 2) return new Set();
  const best = goal === 'minimize' ? Math.min(...finite) : Math.max(...finite);
  return new Set(numbers.flatMap((value, index) => (value === best ? index : [])));
}

/** Return the difference of each run's last value of a metric from the baseline's. */
export function differencesOf(
  { group, name }: Line,
  rows: readonly Row[],
  { baseline, judge }: Compare,
): (Difference | undefined)[] {
  const base = rows.find(({ experiment_id }) => experiment_id === baseline);
  if (group !== 'Metrics' || base === undefined) return [];
  const goal = metricGoal(name, judge);
  return rows.map((row) =>
    row === base ? undefined : differenceFrom(metricOf(base, name), metricOf(row, name), goal),
  );
}

/** What a comparison is judged by. */
export interface Compare {
  judge: JudgedBy | undefined;
  /** ID of the experiment that the others are compared with. */
  baseline: string | undefined;
}
