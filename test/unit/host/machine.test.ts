import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseGpuLine, watchGpus } from '../../../shared/host/gpu-watch.ts';
import { containerUse } from '../../../shared/host/linux/container-use.ts';
import { networkBytes } from '../../../shared/host/linux/network-bytes.ts';

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mps-machine-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

test('a control group of version 2 tells its use without the cache', async () => {
  const folder = await folderOf({
    'cpu.stat': 'usage_usec 2500000\nuser_usec 2000000\n',
    'memory.current': '3000000\n',
    'memory.stat': 'anon 1000000\nactive_file 5\ninactive_file 500000\n',
  });

  expect(containerUse(folder)).toEqual({ cpuSeconds: 2.5, memoryBytes: 2_500_000 });
});

test('one of version 1 does, too', async () => {
  const folder = await folderOf({
    'cpuacct/cpuacct.usage': '2500000000\n',
    'memory/memory.usage_in_bytes': '3000000\n',
    'memory/memory.stat': 'cache 900000\ninactive_file 1\ntotal_inactive_file 500000\n',
  });

  expect(containerUse(folder)).toEqual({ cpuSeconds: 2.5, memoryBytes: 2_500_000 });
});

test('a folder without one tells nothing', async () => {
  expect(containerUse(await folderOf({}))).toBeUndefined();
});

test('the traffic of all interfaces but the loopback counts', () => {
  const text = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 900 1 0 0 0 0 0 0 900 1 0 0 0 0 0 0
  eth0: 386 9 0 0 0 0 0 0 663 6 0 0 0 0 0 0
  eth1:1000 9 0 0 0 0 0 0 2000 6 0 0 0 0 0 0
`;

  expect(networkBytes(text)).toEqual({ received: 1386, sent: 2663 });
});

const line = '0, Tesla T4, 550.54.15, 15360, 3120, 34, 52.10, 70.00';
const state = {
  index: 0,
  name: 'Tesla T4',
  driver: '550.54.15',
  memory: 15_360,
  memoryUsed: 3120,
  use: 34,
  watts: 52.1,
  maxWatts: 70,
};

test('a line of nvidia-smi is the state of a GPU, and what it does not report is unknown', () => {
  expect(parseGpuLine(line)).toEqual(state);
  expect(parseGpuLine('1, NVIDIA A100 MIG, 550.54, 40960, 12, [N/A], [Unknown Error], [N/A]')).toMatchObject({
    index: 1,
    use: null,
    watts: null,
    maxWatts: null,
  });
  expect(parseGpuLine('NVIDIA-SMI has failed because it could not communicate')).toBeUndefined();
});

test('GPUs are watched by one nvidia-smi that repeats its answer, and a machine without it has none', async () => {
  const folder = await folderOf({ 'nvidia-smi': `#!/bin/sh\necho '${line}'\nsleep 60\n` });
  await chmod(join(folder, 'nvidia-smi'), 0o755);
  const gpus = watchGpus(10, join(folder, 'nvidia-smi'));
  onTestFinished(() => gpus.stop());
  const none = watchGpus(10, join(folder, 'none'));
  onTestFinished(() => none.stop());

  await expect.poll(() => gpus.latest()).toEqual([state]);
  expect(none.latest()).toEqual([]);
});
