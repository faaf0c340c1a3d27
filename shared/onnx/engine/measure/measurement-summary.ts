import { millisecondsText } from '../../receipt/amount-text.ts';
import { processorText } from '../../receipt/speed-sentence.ts';
import type { Measurement } from './measurement.ts';

type Measured = Omit<Measurement, 'summary'>;

/** Summary lines of a measurement: a useless file, failed gates, and time. */
export function summaryOf(measured: Measured, useless: string | undefined): string[] {
  const failed = measured.gates.filter(({ holds }) => !holds);
  return [
    ...(useless === undefined ? [] : [useless]),
    ...failed.map(
      ({ gate, verdict, measured: found, allowed }) =>
        `GATE ${verdict === 'unmeasured' ? 'NOT MEASURED' : 'FAILED'}: ${gate}: ${found}, allowed: ${allowed}.`,
    ),
    timeText(measured),
  ];
}

function timeText({ latency, hardware }: Measured): string {
  const on = `one sample on ${hardware.threads} thread of ${processorText(hardware)}`;
  if (latency === null) return `Nothing was timed on ${processorText(hardware)}.`;
  const { ratio, file_ms } = latency;
  if (ratio === null) {
    const [least, most] = file_ms.interval;
    return `${millisecondsText(file_ms.value)} (${millisecondsText(least)} to ${millisecondsText(most)}), ${on}.`;
  }
  const [least, most] = ratio.interval;
  const said = `${times(ratio.value)} times as fast as the base (interval ${times(most)} to ${times(least)})`;
  if (least > 1) return `SLOWER: ${said}, ${on}.`;
  return most < 1 ? `${said}, ${on}.` : `No measurable difference in speed to the base: ${said}, ${on}.`;
}

const times = (ratio: number): string => String(Number((1 / ratio).toPrecision(3)));
