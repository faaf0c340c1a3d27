import { resolve } from 'node:path';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { rowText } from './output-text.ts';
import { readImageFile } from './read-image.ts';
import type { PlainAnswer, ServedModel } from './served-model.ts';

/** Ask with texts. The model answers by vectors, labels, scores, or the labels of tokens. */
export async function inferTexts(
  context: CliContext,
  model: ServedModel,
  { text, pair, isJson }: { text: readonly string[]; pair: readonly string[] | undefined; isJson: boolean },
): Promise<void> {
  if (pair !== undefined && pair.length !== text.length)
    throw new CliError(
      `--pair needs a --text each: there are ${text.length} and ${pair.length}.`,
      exitCodes.usage,
    );
  const texts = pair === undefined ? text : text.map((first, index) => [first, pair[index]]);
  const shown = text.map((first, index) => (pair === undefined ? first : `${first} | ${pair[index]}`));
  show(context, shown, await model.inferPlainly({ texts }), isJson);
}

/** Ask with the file of a picture. */
export async function inferImage(
  context: CliContext,
  model: ServedModel,
  { file, isJson }: { file: string; isJson: boolean },
): Promise<void> {
  const images = [(await readImageFile(resolve(context.folder, file), file)).toString('base64')];
  show(context, [file], await model.inferPlainly({ images }), isJson);
}

function show(
  { printer, process }: CliContext,
  asked: readonly string[],
  answer: PlainAnswer,
  isJson: boolean,
): void {
  if (isJson) {
    printer.json(answer);
    return;
  }
  for (const [index, shown] of asked.entries()) {
    const lines = answerLines(answer, index).map((line) => `\n  ${line}`);
    process.stdout.write(`${shown}${lines.join('')}\n`);
  }
}

function answerLines({ embeddings, labels, scores, tokens, cut }: PlainAnswer, index: number): string[] {
  const vector = embeddings?.[index];
  const label = labels?.[index];
  const score = scores?.[index];
  return [
    ...(vector ? [`${vector.length} numbers: ${rowText(vector)}`] : []),
    ...(label ? [`${label.label}  ${rowText([label.score])}`] : []),
    ...(score === undefined ? [] : [rowText([score])]),
    ...(tokens?.[index] ?? []).map((token) => `${token.token}  ${token.label}  ${rowText([token.score])}`),
    ...(cut?.includes(index) ? ['cut: the model reads its first tokens only'] : []),
  ];
}
