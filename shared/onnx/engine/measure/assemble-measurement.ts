import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { failsAsUseless, type Gate } from '../../../gates/gate.ts';
import { type GateFacts, judgeGate } from '../../../gates/judge-gate.ts';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { Feed } from '../../measure/session/stage-task.ts';
import { roundsEstimate } from '../../measure/verify/rounds-interval.ts';
import { hardware } from '../../receipt/hardware.ts';
import { worstError } from '../optimize/run-trial.ts';
import { uselessness } from '../optimize/suggestions.ts';
import type { Measurement } from './measurement.ts';
import { summaryOf } from './measurement-summary.ts';

/** A model's structure and its feed. */
export interface Side {
  path: string;
  read: StageAnswer<'read'>;
  feed: Feed;
}

/** Results of the stages. */
export interface MeasureFindings {
  base: Side | undefined;
  file: Side;
  compare: StageAnswer<'compare'>;
  race: StageAnswer<'race'> | null;
  gates: readonly Gate[];
  isGated: boolean;
  notes: readonly string[];
  warnings: readonly string[];
}

/** Assemble a measurement and judge it by its gates. */
export function assembleMeasurement({
  base,
  file,
  compare,
  race,
  gates,
  isGated,
  ...said
}: MeasureFindings): Measurement {
  const { accuracy, agreement, outputs, data, notes, warnings, runtime } = compare;
  const isBeside = base !== undefined;
  const latency = race && latencyOf(race);
  const { error } = worstError(compare);
  const bytes = { file: bytesOf(file), base: isBeside ? bytesOf(base) : null };
  const facts: GateFacts = {
    accuracy: accuracy && { file: accuracy.after, base: isBeside ? accuracy.before : null },
    agreement: isBeside ? (agreement?.share ?? null) : null,
    error: isBeside && Number.isFinite(error) ? error : null,
    bytes,
    latency: latency && { file: latency.file_ms, ratio: latency.ratio },
  };
  const verdicts = gates.map((gate) => judgeGate(gate, facts));
  const useless = isBeside ? uselessness(compare) : undefined;
  const measured: Omit<Measurement, 'summary'> = {
    measurement_version: 1,
    passed:
      verdicts.every(({ holds }) => holds) && !(isGated && failsAsUseless(gates, useless !== undefined)),
    gates: verdicts,
    file: {
      ...{ file: basename(file.path), bytes: bytes.file, accuracy: accuracy?.after ?? null },
      ...{ p50_ms: race?.p50.file ?? null, p90_ms: race?.p90.file ?? null },
    },
    base: isBeside
      ? {
          ...{ file: basename(base.path), bytes: bytes.base ?? 0, accuracy: accuracy?.before ?? null },
          ...{ p50_ms: race?.p50.base ?? null, p90_ms: race?.p90.base ?? null },
        }
      : null,
    accuracy:
      accuracy === null || !isBeside
        ? null
        : {
            difference: accuracy.after - accuracy.before,
            difference_interval: accuracy.difference_interval ?? [0, 0],
            ...{ samples: accuracy.samples, output: accuracy.output },
          },
    agreement: isBeside ? agreement : null,
    outputs: isBeside ? outputs : [],
    is_useless: useless !== undefined,
    latency,
    data,
    warnings: [
      ...said.warnings,
      ...(data.source === 'synthetic' && isBeside
        ? [
            'No data set was given, so the outputs were compared on generated inputs. Differences on real data may be larger or smaller.',
          ]
        : []),
      ...(isBeside
        ? outputs.flatMap(({ name, why }) =>
            why === null ? [] : [`The output ${JSON.stringify(name)} ${why}.`],
          )
        : []),
      ...warnings,
    ],
    notes: [...new Set([...said.notes, ...notes])],
    onnx_runtime: runtime,
    hardware: hardware(),
  };
  return { summary: summaryOf(measured, useless), ...measured };
}

function latencyOf({
  rounds,
  runs_per_round,
  shapes,
}: StageAnswer<'race'>): NonNullable<Measurement['latency']> {
  const ratios = rounds.flatMap(({ base, file }) => (base === null ? [] : [file / base]));
  return {
    ratio: ratios.length === 0 ? null : mutable(roundsEstimate(ratios)),
    file_ms: mutable(roundsEstimate(rounds.map(({ file }) => file))),
    rounds: rounds.length,
    runs_per_round,
    shapes,
  };
}

const mutable = ({ value, interval: [least, most] }: ReturnType<typeof roundsEstimate>) => ({
  value,
  interval: [least, most] as [number, number],
});

const bytesOf = ({ read }: Side): number => read.files.reduce((sum, path) => sum + statSync(path).size, 0);
