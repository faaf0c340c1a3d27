import { matchShapes, parseShapes } from '../model/inspect/match-shapes.ts';
import type { ModelSummary } from '../model/inspect/model-summary.ts';
import { ModelError } from '../model/model-error.ts';
import { checkRequest, type OptimizationRequest } from '../strategies/optimization-request.ts';
import { dataFilesOf, type InputFile, inputFile, inspectFile } from './input-file.ts';
import type { Command } from './parse-flags.ts';
import { ResultFiles } from './result-files.ts';

/**
 * Parse a text with the shapes of a model's inputs, and return them by name.
 *
 * @throws ModelError that names the text and the inputs if they differ
 */
export function requestedShapes(
  text: string,
  { inputs }: ModelSummary,
): ReadonlyMap<string, readonly (number | null)[]> {
  const matched = matchShapes(parseShapes(text), inputs);
  if (!matched.ok) throw new ModelError(`inputs: ${matched.fault}.`);
  return new Map(matched.shapes.map(({ name, dims }) => [name, dims]));
}

/** A command that passed all checks. */
export interface PreparedCommand {
  request: OptimizationRequest;
  model: string;
  calibration: string | undefined;
  evaluation: string | undefined;
  shapes: ReadonlyMap<string, readonly (number | null)[]> | undefined;
  memoryBytes: number | undefined;
  seconds: number | undefined;
  result: ResultFiles;
  /** Files that the command never writes to. */
  inputs: readonly InputFile[];
}

/** Return a function that does some work, or adds the message of its ModelError to the faults. */
export const collectFaults =
  (faults: string[]) =>
  async <T>(work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      faults.push(error.message);
      return undefined;
    }
  };

/** Parse the value of a flag as a number above 0. @throws ModelError */
export function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!(number > 0) || !Number.isFinite(number)) throw new ModelError(`--${name} must be a number above 0.`);
  return number;
}

function judgedRequest({ operation, request, faulty }: Command) {
  const checked = checkRequest[operation](request);
  if ('request' in checked) return checked.request;
  const unsaid = checked.faults.filter(({ name }) => !faulty.has(name));
  if (unsaid.length === 0) return undefined;
  throw new ModelError(`${unsaid.map(({ name, message }) => `${name} ${message}`).join('; ')}.`);
}

/**
 * Check a command's request and every file that it reads or writes, before any work.
 *
 * @throws ModelError that names everything that is wrong
 */
export async function prepareCommand(command: Command): Promise<PreparedCommand> {
  const { options, force } = command;
  const faults = [...command.faults];
  const attempt = collectFaults(faults);
  const { calibration: calibrated, evaluation: evaluated, inputs: shapesText, out } = options;
  const request = await attempt(() => judgedRequest(command));
  const memory = await attempt(() => positive('memory', options.memory));
  const seconds = await attempt(() => positive('seconds', options.seconds));
  const model = await attempt(() => (command.model === '' ? undefined : inputFile(command.model)));
  const calibration = await attempt(() =>
    calibrated === undefined ? undefined : inputFile(calibrated, '--calibration'),
  );
  const evaluation = await attempt(() =>
    evaluated === undefined ? undefined : inputFile(evaluated, '--evaluation'),
  );
  // The model is inspected only with --force, which could replace its data files, or with given shapes.
  const mustLook = model !== undefined && (force || shapesText !== undefined);
  const summary = mustLook ? await attempt(() => inspectFile(model.path)) : undefined;
  const data = model && summary && (await attempt(() => dataFilesOf(model.path, summary)));
  const shapes =
    summary && shapesText !== undefined
      ? await attempt(() => requestedShapes(shapesText, summary))
      : undefined;
  const inputs = [model, ...(data ?? []), calibration, evaluation].filter((file) => file !== undefined);
  const result = out === undefined ? undefined : await attempt(() => new ResultFiles(out));
  await attempt(() => result?.refuseTaken(inputs, force));
  if (faults.length > 0 || !request || !model || !result) throw new ModelError(faults.join(' '));
  return {
    request,
    model: model.path,
    calibration: calibration?.path,
    evaluation: evaluation?.path,
    shapes,
    memoryBytes: memory && memory * 2 ** 20,
    seconds,
    result,
    inputs,
  };
}
