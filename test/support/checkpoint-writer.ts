import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

/** Writes checkpoints into a folder for ever: a step at the beginning and the end of each, and something in between. */
export const checkpointProgram = `
import os, sys, time
folder, way, interval = sys.argv[1], sys.argv[2], float(sys.argv[3])
at = lambda name: os.path.join(folder, name)
def content(step):
    return (f"step {step}\\n" + "x" * 50_000 + f"\\nend {step}\\n").encode()
def slowly(path, step, seconds, mode="wb"):
    data = content(step)
    with open(path, mode) as file:
        for index in range(0, len(data), len(data) // 4):
            file.write(data[index : index + len(data) // 4])
            file.flush()
            time.sleep(seconds / 4)
def replace(name, step):
    with open(at(name + ".tmp"), "wb") as file: file.write(content(step))
    os.replace(at(name + ".tmp"), at(name))
step = 0
while True:
    step += 1
    if way == "replaced": replace("model.pt", step)
    if way == "set":
        for name in ("model.pt", "optimizer.pt", "latest"): replace(name, step)
    if way == "rewritten": slowly(at("model.pt"), step, 0)
    if way == "slowly": slowly(at("model.pt"), step, 4 * interval)
    if way == "anew":
        if os.path.exists(at("model.pt")): os.remove(at("model.pt"))
        slowly(at("model.pt"), step, 4 * interval)
    if way == "several":
        for name in ("model.pt", "optimizer.pt"): slowly(at(name), step, 2 * interval)
    print(step, flush=True)
    time.sleep(interval)
`;

/** How checkpoints are written: what `way` says, then a pause, again and again. */
export type Way = 'replaced' | 'set' | 'rewritten' | 'slowly' | 'anew' | 'several';

export interface CheckpointWriter {
  /** By which its processes are found. */
  marker: { name: string; value: string };
  stop(): Promise<void>;
}

/** A program that writes checkpoints into a folder until it is stopped, or the test ends. */
export async function writeCheckpoints(folder: string, way: Way, seconds: number): Promise<CheckpointWriter> {
  const marker = { name: 'WRITER', value: `${folder}-${way}` };
  const child = spawn('python3', ['-c', checkpointProgram, folder, way, String(seconds)], {
    env: { PATH: process.env['PATH'], [marker.name]: marker.value },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  child.stdout.resume();
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(stop);
  await once(child, 'spawn');
  return { marker, stop };
}

/** The step of a checkpoint; undefined where it is not the whole content of one. */
export function stepOf(bytes: Buffer): number | undefined {
  const text = bytes.toString('latin1');
  const step = /^step (\d+)\n/.exec(text)?.[1];
  const isWhole = bytes.length > 50_000 && step !== undefined && text.endsWith(`\nend ${step}\n`);
  return isWhole ? Number(step) : undefined;
}
