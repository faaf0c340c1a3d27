import * as z from 'zod';

// What a logged model is like, whoever brings it: an MLflow client, or an archive.

const maxName = 500;
const forbidden = /[/:.%"']/;

export const LoggedModelName = z
  .string()
  .refine(
    (value) => value.length <= maxName && !forbidden.test(value),
    'Model name must not contain any of the characters / : . % " \'',
  );

/** Most bytes of a model's params, tags and metrics: they are one item, which takes 400 KB. */
const maxBytes = 300_000;

/** What is wrong with them together; undefined where nothing is. */
export function faultOfModel({
  params,
  tags,
  metrics,
}: {
  params: Readonly<Record<string, string>>;
  tags: Readonly<Record<string, string>>;
  metrics: readonly unknown[];
}): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify([params, tags, metrics]));
  return bytes > maxBytes
    ? `The params, tags and metrics of a model have ${bytes} bytes; at most ${maxBytes} are kept.`
    : undefined;
}
