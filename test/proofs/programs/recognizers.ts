import { packChunk } from '../../../shared/data/packed/chunk-stream.ts';
import { LogRecognizer } from '../../../shared/runner/log-metrics/log-recognizer.ts';
import { LogShipper } from '../../../shared/runner/telemetry/log-shipper.ts';

/**
 * `npm run proof -- recognizers`: how much longer a log of a million lines takes with the recognizers of printed metrics.
 * The CPU time within the recognizers is compared with that of all other work on the same log: two separate runs differ by
 * more than the recognizers take. Chunks are packed as for the table, and not sent, so the share of a whole run is smaller.
 */
if (process.argv.includes('--help')) {
  process.stdout.write('Usage: npm run proof -- recognizers\n');
  process.exit(0);
}
const lines = 1_000_000;

const printed = (at: number): string => {
  if (at % 100 === 0) return `epoch ${at / 100}: loss ${(1 / (at + 1)).toFixed(4)} acc 0.9`;
  if (at % 10 === 0) return `2024-01-01 10:00:00 INFO worker: batch ${at} read 64 rows in 0.012 s`;
  return `processed item ${at} of the shard, key=${at * 7} size=${at % 977}`;
};
const chunks: Buffer[] = [];
for (let at = 0; at < lines; at += 500)
  chunks.push(Buffer.from(Array.from({ length: 500 }, (_, index) => `${printed(at + index)}\n`).join('')));

const secondsSince = (begun: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000_000;
};

/** Ship the log. Return the seconds of CPU within the recognizers, and those of all other work. */
async function seconds(): Promise<{ recognizers: number; others: number }> {
  let found = 0;
  let recognizers = 0;
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
  const recognizer = new LogRecognizer();
  shipper.listen((_, read, chunk) => {
    // Other threads pack meanwhile, so only this one's time counts.
    const before = process.threadCpuUsage();
    found += recognizer.readAll(read, chunk).length;
    const { user, system } = process.threadCpuUsage(before);
    recognizers += (user + system) / 1_000_000;
  });
  for (const chunk of chunks) await shipper.output('stdout', chunk);
  await shipper.close();
  if (found !== lines / 100) throw new Error(`${found} lines were recognized`);
  return { recognizers, others: secondsSince(begun) - recognizers };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

const rounds: { recognizers: number; others: number }[] = [];
for (let round = 0; round < 5; round += 1) rounds.push(await seconds());
const of = (read: (round: (typeof rounds)[0]) => number): number => median(rounds.map(read));
const share = of(({ recognizers, others }) => (recognizers / others) * 100);
console.log(
  `a log of ${lines} lines: recognizers ${of(({ recognizers }) => recognizers).toFixed(3)} s of CPU, ` +
    `all other work ${of(({ others }) => others).toFixed(3)} s`,
);
console.log(`recognizers: ${share.toFixed(1)} % (at most 4 %)`);
process.exitCode = share <= 4 ? 0 : 1;
