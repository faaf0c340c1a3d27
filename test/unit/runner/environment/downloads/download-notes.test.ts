import { expect, test } from 'vitest';
import { DownloadNotes } from '../../../../../shared/runner/environment/downloads/download-notes.ts';

test('a reader sees downloads as they grow, and once that they are installed', () => {
  const relay = { counts: { receivedBytes: 0 } };
  const lines: string[] = [];
  const notes = new DownloadNotes(relay, (line) => lines.push(line));
  notes.stop();
  for (const receivedBytes of [0, 12_000_000, 3_100_000_000, 3_100_000_000, 3_100_000_000]) {
    relay.counts.receivedBytes = receivedBytes;
    notes.note();
  }
  expect(lines).toEqual([
    'environment: 12.0 MB of packages received so far',
    'environment: 3.10 GB of packages received so far',
    'environment: 3.10 GB of packages received; installing them',
  ]);
});
