import { packChunk } from '../../../shared/data/packed/chunk-stream.ts';
import { LogRecognizer } from '../../../shared/runner/log-metrics/log-recognizer.ts';
import { LogShipper } from '../../../shared/runner/telemetry/log-shipper.ts';

/**
 * `npm run proof -- programs`: how much longer a log of a million lines takes with the recognizers of printed metrics.
 * Both ways run in turns in one process, and their CPU time is compared. Chunks are packed as for the table, and not
 * sent, so the share of a whole run is smaller.
 */
if (process.argv.includes('--help')) {
  process.stdout.write('Usage: npm run proof -- programs\n');
  process.exit(0);
}
const lines = 1_000_000;
const rounds = 5;

const printed = (at: number): string => {
  if (at % 100 === 0) return `epoch ${at / 100}: loss ${(1 / (at + 1)).toFixed(4)} acc 0.9`;
  if (at % 10 === 0) return `2024-01-01 10:00:00 INFO worker: batch ${at} read 64 rows in 0.012 s`;
  return `processed item ${at} of the shard, key=${at * 7} size=${at % 977}`;
};
const chunks: Buffer[] = [];
for (let at = 0; at < lines; at += 500)
  chunks.push(Buffer.from(Array.from({ length: 500 }, (_, index) => `${printed(at + index)}\n`).join('')));

async function seconds(withRecognizers: boolean): Promise<number> {
  let found = 0;
  const begun = process.cpuUsage();
  const shipper = new LogShipper({
    sink: {
      append: async (sequence, rows) => void (await packChunk({ pk: 'log', sk: String(sequence) }, rows)),
    },
    now: () => new Date(),
    maxBytes: Number.MAX_SAFE_INTEGER,
    flushMilliseconds: 0,
    onLost: (error) => {
      throw error;
    },
    onLimit: () => undefined,
  });
  if (withRecognizers) {
    const recognizer = new LogRecognizer();
    shipper.listen((_, read, chunk) => {
      found += recognizer.readAll(read, chunk).length;
    });
  }
  for (const chunk of chunks) await shipper.output('stdout', chunk);
  await shipper.close();
  if (withRecognizers && found !== lines / 100) throw new Error(`${found} lines were recognized`);
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000_000;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[rounds >> 1] ?? 0;

const times = { without: [] as number[], with: [] as number[] };
for (let round = 0; round < rounds; round += 1) {
  times.without.push(await seconds(false));
  times.with.push(await seconds(true));
}
const [without, recognizing] = [median(times.without), median(times.with)];
const share = (recognizing / without - 1) * 100;
console.log(`a log of ${lines} lines: ${without.toFixed(2)} s; with recognizers ${recognizing.toFixed(2)} s`);
console.log(`recognizers: ${share.toFixed(1)} % (at most 2 %)`);
process.exitCode = share <= 2 ? 0 : 1;
