import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LogRecognizer } from '../../../../shared/runner/printed-metrics/log-recognizer.ts';
import { LineSplitter } from '../../../../shared/runner/telemetry/line-splitter.ts';

const folder = join(import.meta.dirname, '../../../fixtures/logs');

export const readLog = (name: string): string => readFileSync(join(folder, name), 'utf8');

/** What is recognized in a log, as `step name=value …` a line. */
export function recognized(log: string): string[] {
  const recognizer = new LogRecognizer();
  const splitter = new LineSplitter();
  const lines = [...splitter.split(Buffer.from(log), 0), ...splitter.end()];
  return [...lines.flatMap((line) => recognizer.read(line)), ...recognizer.end()]
    .filter(({ values }) => values.length > 0)
    .map(({ step, values }) => [step ?? '–', ...values.map(([name, value]) => `${name}=${value}`)].join(' '));
}
