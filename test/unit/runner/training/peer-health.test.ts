import { describe, expect, test } from 'vitest';
import type { Lease } from '../../../../shared/data/jobs/lease.ts';
import { PeerHealth } from '../../../../shared/runner/training/watch-peers.ts';

const run = { batch_job_id: 'job', batch_attempt: 2 };
const lease = (beat: number, more: Partial<Lease> = {}): Lease => ({
  ...run,
  holder: 'somebody',
  number: 1,
  taken_at: '2026-01-01T00:00:00.000Z',
  // Whatever the clock of the node says.
  heartbeat_at: new Date(beat * 1000).toISOString(),
  ...more,
});
const leases = (...all: (Lease | undefined)[]) =>
  new Map(all.flatMap((one, index) => (one === undefined ? [] : [[index + 1, one] as const])));
const health = (nodes: number) => new PeerHealth({ ...run, nodes, heartbeat: 15 });

describe('a cluster', () => {
  test('lives while each node beats, by whatever clock', () => {
    const peers = health(3);
    for (let now = 0; now < 1000; now += 15)
      expect(peers.check(leases(lease(now), lease(-5 * now)), now)).toBeUndefined();
  });

  test('names the node that is silent for six heartbeats', () => {
    const peers = health(3);
    expect(peers.check(leases(lease(0), lease(0)), 0)).toBeUndefined();
    expect(peers.check(leases(lease(90), lease(0)), 90)).toBeUndefined();
    expect(peers.check(leases(lease(105), lease(0)), 105)).toBe('Node 2 was lost: no heartbeat for 90 s.');
  });

  test('waits a quarter of an hour for a node to start; what ran in an earlier attempt is none', () => {
    const peers = health(2);
    const earlier = leases(lease(0, { batch_attempt: 1, end: { failure: 'long ago' } }));
    expect(peers.check(earlier, 0)).toBeUndefined();
    expect(peers.check(earlier, 900)).toBeUndefined();
    expect(peers.check(earlier, 915)).toBe('Node 1 did not start within 900 s.');
  });

  test('goes on when a node has ended well, however long ago', () => {
    const peers = health(2);
    const ended = leases(lease(0, { end: { failure: null } }));
    for (const now of [0, 100, 10_000]) expect(peers.check(ended, now)).toBeUndefined();
  });

  test('names the node that failed and why, at the second look', () => {
    const peers = health(2);
    const failed = leases(lease(0, { end: { failure: 'The command ended with exit code 3.' } }));
    expect(peers.check(failed, 0)).toBeUndefined();
    expect(peers.check(failed, 15)).toBe('Node 1 failed: The command ended with exit code 3.');
  });

  test('does not take its own want of a table for silence', () => {
    const peers = health(2);
    expect(peers.check(leases(lease(0)), 0)).toBeUndefined();
    peers.missLook();
    expect(peers.check(leases(lease(0)), 600)).toBeUndefined();
    expect(peers.check(leases(lease(0)), 691)).toContain('Node 1 was lost');
  });

  test('that slept as a whole, as on a laptop, is not taken for lost when it wakes', () => {
    const peers = health(2);
    peers.noteLook(0);
    expect(peers.check(leases(lease(0)), 0)).toBeUndefined();

    peers.noteLook(3600);

    expect(peers.check(leases(lease(0)), 3600)).toBeUndefined();
    for (let now = 3615; now <= 3690; now += 15) {
      peers.noteLook(now);
      expect(peers.check(leases(lease(0)), now)).toBeUndefined();
    }
    peers.noteLook(3705);
    expect(peers.check(leases(lease(0)), 3705)).toContain('Node 1 was lost');
  });
});
