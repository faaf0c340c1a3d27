import * as z from 'zod/mini';
import { type Gate, type GateVerdict, gateExitCode, needsBase } from '../../shared/gates/gate.ts';
import { exitCodes } from '../cli-error.ts';

/** Characters of a text, and texts of a list. */
const longest = { text: 2000, notes: 100 };
const text = z.string().check(z.maxLength(longest.text));

/** Result of `mps ci`, as `mps-ci.json` holds it. */
export const CiReport = z.object({
  report_version: z.literal(1),
  verdict: z.enum(['passed', 'failed', 'not compared', 'error']),
  /** Path of the file of gates, which tells comments of one request apart. */
  file: text,
  project: z.nullable(text),
  commit: z.nullable(z.string().check(z.regex(/^[0-9a-f]{7,64}$/))),
  /** Epoch seconds of the commit. */
  time: z.int().check(z.nonnegative()),
  /** What was judged, and what it was compared with. */
  head: z.object({ name: text, link: z.nullable(text) }),
  base: z.nullable(z.object({ name: text, link: z.nullable(text) })),
  gates: z
    .array(
      z.object({
        gate: text,
        verdict: z.enum(['passed', 'failed', 'undecided', 'unmeasured', 'no base']),
        measured: text,
        allowed: text,
        note: z.nullable(text),
      }),
    )
    .check(z.maxLength(50)),
  /** Values of both sides, as texts. */
  values: z.array(z.object({ name: text, base: text, head: text, change: text })).check(z.maxLength(1000)),
  /** Curves of both sides as lines of text. */
  curves: z._default(z.array(z.object({ name: text, base: text, head: text })).check(z.maxLength(50)), []),
  notes: z.array(text).check(z.maxLength(longest.notes)),
});
export type CiReport = z.infer<typeof CiReport>;
export type CiGate = CiReport['gates'][number];

/** Return the verdicts of gates as a report holds them. Those that need a base are not judged without one. */
export function ciGates(
  gates: readonly Gate[],
  hasBase: (gate: Gate) => boolean,
  judge: (judged: readonly Gate[]) => readonly GateVerdict[],
): CiGate[] {
  const isJudged = (gate: Gate) => hasBase(gate) || !needsBase(gate);
  const verdicts = [...judge(gates.filter(isJudged))];
  return gates.map((gate) => {
    const judgement = isJudged(gate) ? verdicts.shift() : undefined;
    return {
      gate: gate.text,
      verdict: judgement?.verdict ?? ('no base' as const),
      measured: judgement?.measured ?? '',
      allowed: judgement?.allowed ?? '',
      note: judgement?.note ?? null,
    };
  });
}

/** Cut notes to what a report holds, with a mark where text is missing. */
export const ciNotes = (notes: readonly string[]): string[] =>
  notes
    .slice(0, longest.notes)
    .map((note) =>
      note.length <= longest.text ? note : `${note.slice(0, longest.text - 1).toWellFormed()}…`,
    );

/** Whether a gate alone fails the check. */
export const isFailed = ({ verdict }: CiGate): boolean => verdict === 'failed' || verdict === 'unmeasured';

/** Return what gates say together. */
export function verdictOf(gates: readonly CiGate[]): CiReport['verdict'] {
  if (gates.some(isFailed)) return 'failed';
  return gates.some(({ verdict }) => verdict === 'no base') ? 'not compared' : 'passed';
}

/** Return the exit code of a report. */
export function exitCodeOfReport(
  { verdict }: Pick<CiReport, 'verdict'>,
  without_base: 'pass' | 'fail' = 'pass',
): number {
  if (verdict === 'error') return exitCodes.failure;
  if (verdict === 'failed') return gateExitCode;
  return verdict === 'not compared' && without_base === 'fail' ? exitCodes.notCompared : 0;
}
