import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TextSettings } from '../../data/models/text-settings.ts';
import { type RawTensor, unpackBytes } from '../protocol/datatypes.ts';
import { labelsOf } from '../protocol/model-config.ts';
import { answerTexts, type TextModel } from '../texts/answer-texts.ts';
import { TextTokenizer } from '../texts/text-tokenizer.ts';

interface TextTask {
  inputs: readonly { name: string; bytes: number }[];
  texts: TextSettings;
}

/**
 * Open the tokenizer in the folder of a model. It is a stranger's file with expressions of its own, so this runs only in the
 * process of the model, which has no network, a bound of memory and a deadline.
 * @throws Error that names the file and what is wrong with it
 */
export async function openTexts(
  folder: string,
  model: Pick<TextModel, 'inputs' | 'run'>,
): Promise<(task: TextTask, body: Uint8Array) => Promise<RawTensor[]>> {
  const textOf = (name: string) => readFile(join(folder, name), 'utf8').catch(() => undefined);
  const config = objectOf(await textOf('tokenizer_config.json'));
  const tokenizer = opened(await textOf('tokenizer.json'), config);
  const labels = labelsOf(await textOf('config.json'));
  return async ({ inputs, texts: settings }, body) => {
    let at = 0;
    const lists = new Map<string, string[]>();
    for (const { name, bytes } of inputs) {
      const elements = unpackBytes(body.subarray(at, at + bytes)) ?? [];
      lists.set(
        name,
        elements.map((element) => Buffer.from(element).toString('utf8')),
      );
      at += bytes;
    }
    return answerTexts(
      { ...model, settings, tokenizer, labels },
      lists.get('text') ?? [],
      lists.get('text_pair'),
    );
  };
}

function opened(text: string | undefined, config: Readonly<Record<string, unknown>>): TextTokenizer {
  try {
    return new TextTokenizer(JSON.parse(text ?? ''), config);
  } catch (cause) {
    throw new Error(
      `tokenizer.json cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
}

function objectOf(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
