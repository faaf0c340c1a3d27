/** A small program with its own way to use memory and processors. */
interface Program {
  name: string;
  script: string;
}

const start = `import os, subprocess, sys, time
begin = time.monotonic()
def hold(mebibytes):
    held = bytearray(mebibytes << 20)
    for at in range(0, len(held), 4096): held[at] = 1
    return held
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
`;

/** Return twenty programs that each run for about these seconds. */
export function programs(seconds: number): Program[] {
  const until = `while time.monotonic() - begin < ${seconds}:`;
  const make = (name: string, body: string): Program => ({ name, script: `${start}${body}` });
  const steady = (mebibytes: number, share: number) =>
    make(
      `holds ${mebibytes} MiB, ${100 * share} % busy`,
      `held = hold(${mebibytes})\n${until}\n    work(${share} / 2); time.sleep(${(1 - share) / 2})\n`,
    );
  const late = (mebibytes: number) =>
    make(
      `takes ${mebibytes} MiB at its end`,
      `${until}\n    work(0.02); time.sleep(0.3)\nheld = hold(${mebibytes}); time.sleep(1)\n`,
    );
  const growing = (mebibytes: number) =>
    make(
      `grows to ${mebibytes} MiB`,
      `held = []\n${until}\n    time.sleep(0.5)\n    if len(held) < ${mebibytes / 10}: held.append(hold(10))\n`,
    );
  const forking = (children: number, mebibytes: number) =>
    make(
      `shares ${mebibytes} MiB with ${children} children`,
      `held = hold(${mebibytes})\nfor _ in range(${children}):\n    if os.fork() == 0:\n        ${until} time.sleep(0.5)\n        os._exit(0)\n${until} time.sleep(0.5)\nfor _ in range(${children}): os.wait()\n`,
    );
  const separate = (children: number, mebibytes: number) =>
    make(
      `has ${children} children of ${mebibytes} MiB`,
      `for _ in range(${children}):\n    if os.fork() == 0:\n        held = hold(${mebibytes})\n        ${until} time.sleep(0.5)\n        os._exit(0)\nfor _ in range(${children}): os.wait()\n`,
    );
  const bursts = (mebibytes: number) =>
    make(
      `takes ${mebibytes} MiB in bursts`,
      `${until}\n    held = hold(${mebibytes}); time.sleep(0.2); del held; time.sleep(2)\n`,
    );
  const short = make(
    'starts many short programs',
    `${until}\n    subprocess.run([sys.executable, '-c', 'sum(range(10 ** 6))']); time.sleep(0.5)\n`,
  );
  return [
    ...[60, 200, 500, 900].map((mebibytes) => steady(mebibytes, 0.02)),
    ...[100, 300].map((mebibytes) => steady(mebibytes, 0.1)),
    ...[150, 250].map((mebibytes) => steady(mebibytes, 0.2)),
    ...[120, 380, 700].map(late),
    ...[200, 450].map(growing),
    forking(2, 200),
    forking(4, 100),
    separate(2, 90),
    separate(4, 60),
    bursts(150),
    bursts(400),
    short,
  ];
}
