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

// What names and addresses of the model registry are like, whoever writes them: a client, or an archive.

export const maxRegisteredName = 256;
/** What no name of a registered model contains. */
export const refusedInName = /[/:]/;

export const maxAlias = 255;
export const aliasPattern = /^[\w-]*$/;
/** What stands for versions already. */
export const versionAlias = /^v\d+$/i;
export const newestAlias = 'latest';

/** Whether a client may take files from there: an address, not a path of its own disk. */
export const isRemoteAddress = (address: string): boolean =>
  /^[a-z][a-z0-9+.-]*:/i.test(address) && !/^file:/i.test(address);
/** Whether an address has neither a query nor a part that leads upwards. */
export const isPlainAddress = (address: string): boolean =>
  !/[?#]|(?:^|\/)\.\.(?:\/|$)|%2e%2e/i.test(address);

/** Most bytes of a registered model, or of a version, as JSON: each is one item, which takes 400 KB. */
export const maxRegistryItem = 350_000;

const maxTag = 100_000;
const maxDescription = 5000;
/** Value of a tag, and description, of a registered model or a version. */
export const RegistryTag = z.string().max(maxTag, `exceeds the maximum length of ${maxTag} characters`);
export const RegistryDescription = z.string().max(maxDescription);
