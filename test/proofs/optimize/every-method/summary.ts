import { type Outcome, reasonKind } from './outcome.ts';
import { trials } from './requests.ts';

export interface ModelOutcomes {
  model: string;
  outcomes: Outcome[];
}

const outcomeNames = ['passed', 'refused', 'unrun', 'failed'] as const;

function counted(all: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

/** What came of everything, in Markdown: by method, by reason, and each failure. */
export function summaryText(all: readonly ModelOutcomes[], notExported: readonly string[]): string {
  const outcomes = all.flatMap(({ outcomes: own }) => own);
  const count = (of: readonly Outcome[], name: string): number =>
    of.filter(({ outcome }) => outcome === name).length;
  const byTrial = trials.map(({ name }) => {
    const own = outcomes.filter(({ trial }) => trial === name);
    const compared = own.flatMap(({ error, outcome }) =>
      error === null || outcome === 'failed' ? [] : [error],
    );
    const middle = compared.sort((a, b) => a - b)[Math.floor(compared.length / 2)];
    const points = own.flatMap(({ accuracy }) =>
      accuracy === null ? [] : [accuracy.before - accuracy.after],
    );
    const lost = points.length === 0 ? '' : `${(100 * Math.max(...points)).toFixed(1)}`;
    return row([name, ...outcomeNames.map((one) => count(own, one)), middle?.toPrecision(2) ?? '', lost]);
  });
  const reasons = (name: Outcome['outcome']): string[] =>
    counted(outcomes.filter(({ outcome }) => outcome === name).map(({ reason }) => reasonKind(reason))).map(
      ([reason, times]) => `- ${times} × ${reason}`,
    );
  const failures = all.flatMap(({ model, outcomes: own }) =>
    own
      .filter(({ outcome }) => outcome === 'failed')
      .map(({ trial, reason }) => `- ${model}, ${trial}: ${reason}`),
  );
  const total = outcomeNames.map((name) => `${count(outcomes, name)} ${name}`).join(', ');
  return [
    `${all.length} models × ${trials.length} methods = ${outcomes.length}: ${total}.`,
    '',
    row(['method', ...outcomeNames, 'median error', 'most accuracy lost, points']),
    row(Array.from({ length: 7 }, () => '---')),
    ...byTrial,
    '',
    'Refused because:',
    ...reasons('refused'),
    '',
    'Not run, because ONNX Runtime does not run the model itself (the result was made and checked, where it needs no run):',
    ...reasons('unrun'),
    '',
    ...(failures.length === 0 ? ['Nothing failed.'] : ['FAILED:', ...failures]),
    ...(notExported.length === 0 ? [] : ['', 'Not exported:', ...notExported.map((line) => `- ${line}`)]),
    '',
  ].join('\n');
}
