import * as z from 'zod';

// Rules of a logged model, both from an MLflow client and from an archive.

const maxName = 500;
const forbidden = /[/:.%"']/;

export const LoggedModelName = z
  .string()
  .refine(
    (value) => value.length <= maxName && !forbidden.test(value),
    'Model name must not contain any of the characters / : . % " \'',
  );

/** Maximum bytes of a model's params, tags and metrics. They share one item, which takes 400 KB. */
const maxBytes = 300_000;

/** Return the fault of a model's params, tags and metrics as a whole. Return undefined if they are valid. */
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
    ? `The params, tags and metrics of a model have ${bytes} bytes; at most ${maxBytes} are allowed.`
    : undefined;
}

// Rules of names and addresses of the model registry, both from a client and from an archive.

export const maxRegisteredName = 256;
/** Characters that no name of a registered model may contain. */
export const refusedInName = /[/:]/;

export const maxAlias = 255;
export const aliasPattern = /^[\w-]*$/;
/** Aliases that already refer to versions. */
export const versionAlias = /^v\d+$/i;
export const newestAlias = 'latest';

/** Whether a client may load files from this address. It must not be a path on the client's own disk. */
export const isRemoteAddress = (address: string): boolean =>
  /^[a-z][a-z0-9+.-]*:/i.test(address) && !/^file:/i.test(address);
/** Whether an address has no query, no fragment and no `..` part. */
export const isPlainAddress = (address: string): boolean =>
  !/[?#]|(?:^|\/)\.\.(?:\/|$)|%2e%2e/i.test(address);

/** Maximum bytes of a registered model or a version as JSON. Each is one item, which takes 400 KB. */
export const maxRegistryItem = 350_000;

const maxTag = 100_000;
const maxDescription = 5000;
/** Tag value and description of a registered model or a version. */
export const RegistryTag = z.string().max(maxTag, `exceeds the maximum length of ${maxTag} characters`);
export const RegistryDescription = z.string().max(maxDescription);
