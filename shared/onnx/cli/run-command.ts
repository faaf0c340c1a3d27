import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { ModelFault } from '../model-fault.ts';
import { optimizeModel } from '../optimize/optimize-model.ts';
import { parseRequest } from '../optimize/parse-request.ts';
import { renderReceipt } from '../receipt/render-receipt.ts';
import { type Command, parseCommand } from './parse-flags.ts';
import type { ProgressLine } from './progress-line.ts';
import { receiptText } from './receipt-text.ts';
import { requestedShapes } from './requested-shapes.ts';
import { usage } from './usage.ts';

/** What the command needs of its surroundings. */
export interface CommandPlace {
  stageCommand: readonly string[];
  progress: ProgressLine;
  print(text: string): void;
  signal: AbortSignal;
}

const positive = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!(number > 0) || !Number.isFinite(number)) throw new ModelFault(`--${name} takes a number above 0.`);
  return number;
};

async function readable(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const full = resolve(path);
  try {
    await access(full);
  } catch {
    throw new ModelFault(`${path} cannot be read.`);
  }
  return full;
}

/** Puts the result where it was asked for; data beside it keep the name that the model knows them by. */
async function place(folder: string, files: readonly string[], out: string): Promise<string[]> {
  const [model = '', ...data] = files;
  const targets = data.map((name) => join(dirname(out), name));
  for (const [index, name] of data.entries()) await rename(join(folder, name), targets[index] ?? '');
  await rename(join(folder, model), out);
  return [out, ...targets];
}

async function optimize({ model, request, place: given }: Command, to: CommandPlace): Promise<void> {
  const out = resolve(given.out ?? '');
  const source = (await readable(model)) ?? '';
  if (source === out) throw new ModelFault('The source is never changed: give --out another name.');
  const judged = parseRequest(request);
  const shapes = given.inputs === undefined ? undefined : await requestedShapes(given.inputs, source);
  const memory = positive('memory', given.memory);
  const seconds = positive('seconds', given.seconds);
  await mkdir(dirname(out), { recursive: true });
  const folder = await mkdtemp(join(dirname(out), '.optimize-'));
  try {
    const { receipt, files } = await optimizeModel({
      request: judged,
      model: source,
      calibration: await readable(given.calibration),
      evaluation: await readable(given.evaluation),
      shapes,
      folder,
      stageCommand: to.stageCommand,
      limits: {
        ...(memory !== undefined && { memoryBytes: memory * 2 ** 20 }),
        ...(seconds !== undefined && { seconds }),
      },
      say: (line) => to.progress.say(line),
      progress: (stage, fraction) => to.progress.show(stage, fraction),
      signal: to.signal,
    });
    const written = await place(join(folder, 'result'), files, out);
    const stem = join(dirname(out), basename(out, extname(out)));
    await writeFile(`${stem}.receipt.json`, `${JSON.stringify(receipt, null, 2)}\n`);
    await writeFile(`${stem}.receipt.svg`, renderReceipt(receipt));
    to.progress.clear();
    to.print(
      `${receiptText(receipt)}Written: ${[...written, `${stem}.receipt.json`, `${stem}.receipt.svg`].join(', ')}\n`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The command that prunes and quantizes apart from the service.
 *
 * @returns its exit code: 0 done, 1 for a fault, which was printed, 130 when it was interrupted
 */
export async function runCommand(argv: readonly string[], to: CommandPlace): Promise<number> {
  try {
    const command = parseCommand(argv);
    if (command === null) to.print(usage());
    else await optimize(command, to);
    return 0;
  } catch (error) {
    to.progress.clear();
    if (to.signal.aborted) return 130;
    if (!(error instanceof ModelFault)) throw error;
    to.progress.say(error.message);
    return 1;
  }
}
