import { beforeEach, describe, expect, test } from 'vitest';
import { appendLog, readLog, readLogTail } from '../../../../shared/data/jobs/job-log.ts';
import { ConditionFailedError } from '../../../../shared/data/table/write-label.ts';
import { LogShipper } from '../../../../shared/runner/telemetry/log-shipper.ts';
import { everySample } from '../../../support/samples.ts';
import { type LeasedExperiment, leasedExperiment } from '../leased-experiment.ts';
import { Workbench } from '../workbench.ts';

describe('a log that a command writes', () => {
  const bench = new Workbench();
  let place: LeasedExperiment;
  const everything = { limit: 1e9, maxBytes: 1e9 };

  beforeEach(async () => {
    place = await leasedExperiment();
  });

  /** A shipper to a node's log. */
  function shipTo(node: number, events: unknown[] = []) {
    const { records, experiment, lease } = place;
    return new LogShipper({
      sink: {
        append: (sequence, lines) =>
          appendLog(records, experiment.experiment_id, node, lease, sequence, lines, new Date()),
      },
      now: () => new Date(),
      maxBytes: 1e9,
      onLost: (error) => events.push(error),
      onLimit: () => events.push('limit'),
    });
  }

  test.runIf(everySample)('as fast as it can is stored whole: 200,000 lines', async () => {
    const shipper = shipTo(0);
    const { outcome } = await bench.run(['seq', '1', '200000'], {
      onOutput: (stream, chunk) => shipper.output(stream, chunk),
    });
    await shipper.close();
    expect(outcome).toMatchObject({ cause: 'exited', exitCode: 0 });
    const { rows, more } = await readLog(
      place.records,
      place.experiment.experiment_id,
      0,
      undefined,
      everything,
    );
    const wrong = rows.findIndex(({ message }, index) => message !== String(index + 1));
    expect({ lines: rows.length, wrong, more }).toEqual({ lines: 200_000, wrong: -1, more: false });
  });

  test('is there while the command runs', async () => {
    const { records, experiment } = place;
    const shipper = shipTo(0);
    const running = bench.sh('echo first; until test -e go; do sleep 0.05; done; echo last', {
      onOutput: (stream, chunk) => shipper.output(stream, chunk),
    });
    const tail = async () =>
      (await readLogTail(records, experiment.experiment_id, 0, 1)).rows.map(({ message }) => message);
    await expect.poll(tail).toEqual(['first']);
    await bench.script('go', '');
    await running;
    await shipper.close();
    expect(await tail()).toEqual(['last']);
  });

  test('is refused once another holds the lease', async () => {
    const events: unknown[] = [];
    const shipper = shipTo(0, events);
    await place.takeOver();
    await shipper.output('stdout', Buffer.from('too late\n'));
    await shipper.close();
    expect(events).toEqual([new ConditionFailedError()]);
    const { rows } = await readLog(place.records, place.experiment.experiment_id, 0, undefined, everything);
    expect(rows).toEqual([]);
  });
});
