import { type CiGate, type CiReport, isFailed } from './report.ts';

/** Characters of a comment that GitHub takes, less a margin. It counts UTF-8 in some places. */
const maxBytes = 65_000;

/**
 * Render a report as Markdown for a comment or a summary. The whole text is cut to what GitHub takes: notes and values
 * first, then gates that hold. The verdict stays.
 *
 * @param earlier verdicts of commits before, the newest first
 * @param taken bytes of the comment that something else takes
 */
export function renderReport(
  report: CiReport,
  earlier: readonly EarlierVerdict[] = [],
  taken: number = 0,
): string {
  for (const share of [1, 0.3, 0.1, 0.03, 0]) {
    const text = rendered(report, earlier, share);
    if (Buffer.byteLength(text) + taken <= maxBytes) return text;
  }
  return verdictLine(report);
}

/** A verdict that a later one has replaced. */
export interface EarlierVerdict {
  commit: string;
  verdict: CiReport['verdict'];
  /** Epoch seconds of the commit. */
  time: number;
}

function rendered(report: CiReport, earlier: readonly EarlierVerdict[], share: number): string {
  const { verdict, head, base, gates, values, curves, notes } = report;
  const ranked = gates.toSorted((a, b) => rankOf(a) - rankOf(b));
  const gateRows = cut(ranked, share).map((gate) => [
    `${signs[gate.verdict]} ${gate.verdict}`,
    code(gate.gate),
    plain(gate.measured),
    plain([gate.allowed, gate.note ?? ''].filter((part) => part !== '').join('; ')),
  ]);
  const valueRows = cut(values, share).map((row) => [
    code(row.name),
    plain(row.base),
    plain(row.head),
    plain(row.change),
  ]);
  const left = gates.length - gateRows.length + values.length - valueRows.length;
  return [
    verdictLine(report),
    '',
    ...(verdict === 'error'
      ? head.link === null
        ? []
        : [linked(head), '']
      : [`${linked(head)} against ${base === null ? 'nothing: there is no base' : linked(base)}`, '']),
    ...(gateRows.length === 0 ? [] : table(['', 'gate', 'measured', 'allowed'], gateRows)),
    ...(valueRows.length === 0 ? [] : table(['', 'base', 'head', 'change'], valueRows)),
    ...curvesText(cut(curves, share)),
    ...(left === 0 ? [] : [`${left} rows are left out, for the length of the comment.`, '']),
    ...cut(notes, share).map((note) => `- ${plain(note)}`),
    ...(notes.length === 0 ? [] : ['']),
    ...earlierText(earlier),
  ].join('\n');
}

const cut = <T>(rows: readonly T[], share: number): readonly T[] =>
  share === 1 ? rows : rows.slice(0, Math.floor(rows.length * share));

const signs: Readonly<Record<CiGate['verdict'], string>> = {
  passed: '✅',
  failed: '❌',
  unmeasured: '❌',
  undecided: '➖',
  'no base': '⚠️',
};

const rankOf = (gate: CiGate): number => (isFailed(gate) ? 0 : gate.verdict === 'passed' ? 2 : 1);

function verdictLine({ verdict, gates, file, project, commit }: CiReport): string {
  const failed = gates.filter(isFailed).length;
  const open = gates.filter((gate) => gate.verdict === 'undecided').length;
  const count = `${gates.length} ${gates.length === 1 ? 'gate' : 'gates'}`;
  const told = {
    passed: `✅ ${count} ${gates.length === 1 ? 'holds' : 'hold'}${open === 0 ? '' : `, ${open} of them undecided within the noise`}`,
    failed: `❌ ${failed} of ${count} ${failed === 1 ? 'fails' : 'fail'}`,
    'not compared': '⚠️ NOT COMPARED: there is no base',
    error: '❌ The check could not be made',
  }[verdict];
  const of = [
    project === null ? '' : code(project),
    code(file),
    commit === null ? '' : code(commit.slice(0, 10)),
  ];
  return `### ${told}\n\n${of.filter((part) => part !== '').join(' · ')}`;
}

function curvesText(curves: Readonly<CiReport['curves']>): string[] {
  if (curves.length === 0) return [];
  const rows = curves.map(({ name, base, head }) => [code(name), plain(base), plain(head)]);
  return [
    '<details open><summary>Curves</summary>',
    '',
    ...table(['', 'base', 'head'], rows),
    '</details>',
    '',
  ];
}

function earlierText(earlier: readonly EarlierVerdict[]): string[] {
  if (earlier.length === 0) return [];
  const rows = earlier.map(({ commit, verdict, time }) => [
    code(commit.slice(0, 10)),
    verdict,
    new Date(time * 1000).toISOString().slice(0, 16).replace('T', ' '),
  ]);
  return [
    `<details><summary>Earlier verdicts (${earlier.length})</summary>`,
    '',
    ...table(['commit', 'verdict', 'commit time (UTC)'], rows),
    '</details>',
    '',
  ];
}

const table = (headings: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  `| ${headings.join(' | ')} |`,
  `|${'---|'.repeat(headings.length)}`,
  ...rows.map((row) => `| ${row.join(' | ')} |`),
  '',
];

function linked({ name, link }: { name: string; link: string | null }): string {
  if (link === null || !URL.canParse(link) || !/^https?:$/.test(new URL(link).protocol)) return code(name);
  // A query may have signs with which the link would end, and text begin.
  return `[${code(name)}](<${new URL(link).href.replaceAll(/[<>`|\\]/g, encodeURIComponent)}>)`;
}

const longest = 300;

/** Control characters, and those that turn the direction of text. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** Cut text to what a row holds, to whole characters. */
const shortened = (text: string): string => text.replaceAll(invisible, ' ').slice(0, longest).toWellFormed();

/**
 * Write every sign of text that Markdown, HTML or a table could read as an entity. Entities are never markup, but mentions
 * and references to issues are found after them: a word joiner parts these.
 */
function plain(text: string): string {
  return entities(shortened(text)).replaceAll(/&#(?:64|35|33);|(?<=\bGH)&#45;/g, (sign) => `${sign}&#8288;`);
}

/** Text as code, in which neither GitHub nor GitLab finds mentions. */
const code = (text: string): string => `<code>${entities(shortened(text))}</code>`;

const entities = (text: string): string =>
  text.replaceAll(/(?<=www)\.|[^\p{L}\p{N} ,.]/giu, (sign) =>
    /[\x21-\x7e]/.test(sign) && !/[()%+±]/.test(sign) ? `&#${sign.codePointAt(0)};` : sign,
  );
