/**
 * Split the Markdown of a report at its blocks: fenced code whose info begins with `mps`, such as
 *
 * ```mps chart
 * experiments: 01m8…, 01m9…
 * metric: val/loss
 * ```
 *
 * It reads each line once, so no text takes it long. A fence inside other code is part of that code.
 */
export function parseReport(text: string): { parts: ReportPart[]; faults: string[] } {
  const parts: ReportPart[] = [];
  const faults: string[] = [];
  let open: { fence: string; line: number; kind: string | undefined; from: number } | undefined;
  let rest: string[] = [];
  const lines = text.split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    if (open === undefined) {
      const [, fence, info = ''] = /^ {0,3}(`{3,}|~{3,})([^`]*)$/.exec(line) ?? [];
      if (fence !== undefined) {
        const [word, kind = '', ...more] = info.trim().split(/\s+/);
        const named = word === 'mps' ? [kind, ...more].join(' ') : undefined;
        open = { fence, line: index + 1, kind: named, from: index + 1 };
        if (named !== undefined) {
          parts.push({ markdown: rest.join('\n') });
          rest = [];
          continue;
        }
      }
      rest.push(line);
      continue;
    }
    const closes = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1] ?? '';
    const isEnd = closes.length >= open.fence.length && closes[0] === open.fence[0];
    if (open.kind === undefined) rest.push(line);
    else if (isEnd) parts.push({ block: blockOf(open, lines.slice(open.from, index), faults) });
    if (isEnd) open = undefined;
  }
  if (open?.kind !== undefined)
    faults.push(`line ${open.line}: the block has no end, a line of ${open.fence}`);
  parts.push({ markdown: rest.join('\n') });
  const blocks = blocksOf(parts);
  if (blocks.length > maxBlocks) faults.push(`has ${blocks.length} blocks, more than ${maxBlocks}`);
  const curves = blocks.reduce((sum, block) => sum + curvesOf(block), 0);
  if (curves > maxCurves) faults.push(`may draw ${curves} curves, more than ${maxCurves}`);
  const { experiments, sweeps } = namedIn(blocks);
  const named = experiments.length + sweeps.length;
  if (named > maxNamed) faults.push(`names ${named} experiments and sweeps, more than ${maxNamed}`);
  return { parts: parts.filter((part) => 'block' in part || part.markdown.trim() !== ''), faults };
}

/** Maximum blocks of a report, curves of its charts together, and experiments and sweeps that it names. */
export const maxBlocks = 16;
const maxCurves = 100;
const maxNamed = 20;
/** Maximum experiments of a table of a report, and of a chart. */
export const maxRows = 50;
export const maxRuns = 10;

/** Part of a report: Markdown, or a block. */
export type ReportPart = { markdown: string } | { block: ReportBlock };

/** Keys that a kind of block needs and may have. `from` is one of `experiments`, `sweep` and `view`. */
const kinds = {
  value: { needs: ['experiment', 'metric'], may: ['show'], from: false },
  table: { needs: [], may: ['column'], from: true },
  chart: { needs: ['metric'], may: ['scale', 'note'], from: true },
  picture: { needs: ['experiment', 'path'], may: [], from: false },
  sweep: { needs: ['sweep'], may: [], from: false },
  receipt: { needs: ['compression', 'method'], may: [], from: false },
} as const satisfies Record<string, { needs: string[]; may: string[]; from: boolean }>;
type BlockKind = keyof typeof kinds;

/** Block of a report as it was written. */
export interface ReportBlock {
  kind: BlockKind;
  /** Number of its first line in the report, from 1. */
  line: number;
  /** Its lines, which tell it from other blocks. */
  text: string;
  /** Whether it keeps the data of the time at which it was stored. */
  isFrozen: boolean;
  title: string | undefined;
  experiments: string[];
  sweep: string | undefined;
  view: string | undefined;
  metrics: string[];
  columns: string[];
  notes: { step: number; text: string }[];
  isLog: boolean;
  path: string;
  show: 'best' | 'last' | 'min' | 'max';
  compression: { id: string; method: 'prune' | 'quantize' } | undefined;
}

const sources = ['experiments', 'sweep', 'view'] as const;
/** Keys that may be repeated, and how often. */
const repeated: Readonly<Record<string, number>> = { metric: 4, column: 20, note: 20 };

function blockOf(
  { kind: name = '', line: first }: { kind: string | undefined; line: number },
  lines: readonly string[],
  faults: string[],
): ReportBlock {
  const fault = (message: string): void => void faults.push(`line ${first}: ${message}`);
  const isKnown = Object.hasOwn(kinds, name);
  if (!isKnown) fault(`${quoted(name)} is no block. A block is ${Object.keys(kinds).join(', ')}`);
  const kind = isKnown ? (name as BlockKind) : 'table';
  const { needs, may, from } = kinds[kind];
  const allowed = new Set<string>([...needs, ...may, ...(from ? sources : []), 'title', 'frozen']);
  const settings = new Map<string, string[]>();
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const [, key = '', value = ''] = /^\s*([a-z]+)\s*:(.*)$/.exec(line) ?? [];
    const values = settings.get(key) ?? [];
    if (key === '') faults.push(`line ${first + index + 1}: must be "key: value"`);
    else if (isKnown && !allowed.has(key))
      faults.push(
        `line ${first + index + 1}: ${key} is no key of a ${kind}. It has ${[...allowed].join(', ')}`,
      );
    else if (values.length >= (repeated[key] ?? 1))
      faults.push(`line ${first + index + 1}: ${key} is given more than ${repeated[key] ?? 1} times`);
    settings.set(key, [...values, value.trim()]);
  }
  const all = (key: string): string[] => settings.get(key) ?? [];
  const one = (key: string): string | undefined => all(key)[0] || undefined;
  const choice = <T extends string>(key: string, choices: readonly [T, ...T[]]): T => {
    const value = one(key) ?? choices[0];
    const known = choices.find((choice) => choice === value);
    if (known === undefined) fault(`${key} must be ${choices.join(' or ')}`);
    return known ?? choices[0];
  };
  const ids = (key: string): string[] => {
    const listed = [
      ...new Set(all(key).flatMap((value) => value.split(',').map((id) => id.trim().toLowerCase()))),
    ];
    if (listed.some((id) => !idPattern.test(id))) fault(`${key} must be ids of 26 characters`);
    return listed.filter((id) => idPattern.test(id));
  };
  const lacking = isKnown ? needs.filter((key) => one(key) === undefined) : [];
  if (lacking.length > 0) fault(`a ${kind} needs ${lacking.join(' and ')}`);
  const chosen = sources.filter((key) => one(key) !== undefined);
  if (isKnown && from && chosen.length !== 1) fault(`a ${kind} needs one of ${sources.join(', ')}`);
  const experiments = [...ids('experiments'), ...ids('experiment')];
  const most = kind === 'chart' ? maxRuns : maxRows;
  if (experiments.length > most) fault(`a ${kind} has at most ${most} experiments`);
  const compression = one('compression')?.toLowerCase();
  const notes = all('note').map((note) => {
    const [, step = '', text = ''] = /^(-?\d{1,15}(?:\.\d{1,6})?)\s+(.{1,200})$/.exec(note) ?? [];
    if (text === '') fault('note must be a step and at most 200 characters, such as "120 lr halved"');
    return { step: Number(step), text };
  });
  for (const column of all('column'))
    if (!columnPattern.test(column))
      fault(`column ${quoted(column)} must begin with params., metrics. or tags., or be best`);
  return {
    kind,
    line: first,
    text: [name, ...lines].join('\n'),
    isFrozen: choice('frozen', ['false', 'true']) === 'true',
    title: one('title')?.slice(0, 200),
    experiments,
    sweep: ids('sweep')[0],
    view: one('view'),
    metrics: [...new Set(all('metric'))],
    columns: [...new Set(all('column'))],
    notes,
    isLog: choice('scale', ['linear', 'log']) === 'log',
    path: one('path') ?? '',
    show: choice('show', ['best', 'last', 'min', 'max']),
    compression:
      compression !== undefined && idPattern.test(compression)
        ? { id: compression, method: choice('method', ['prune', 'quantize']) }
        : undefined,
  };
}

const idPattern = /^[0-9a-z]{26}$/;
const columnPattern = /^(?:best$|(?:params|metrics|tags)\.\S)/;
const quoted = (text: string): string => JSON.stringify(text.slice(0, 60));

/** Return the blocks of a report in their order. */
export const blocksOf = (parts: readonly ReportPart[]): ReportBlock[] =>
  parts.flatMap((part) => ('block' in part ? [part.block] : []));

/** Return what blocks name, which cannot be deleted. */
export function namedIn(blocks: readonly ReportBlock[]) {
  const distinct = (names: readonly (string | undefined)[]) => [
    ...new Set(names.filter((name) => name !== undefined)),
  ];
  return {
    experiments: distinct(blocks.flatMap(({ experiments }) => experiments)),
    sweeps: distinct(blocks.map(({ sweep }) => sweep)),
    views: distinct(blocks.map(({ view }) => view)),
  };
}

const curvesOf = ({ kind, metrics, experiments }: ReportBlock): number =>
  kind === 'chart' ? metrics.length * Math.min(maxRuns, experiments.length || maxRuns) : 0;
