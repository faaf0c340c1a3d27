import type * as z from 'zod';
import type { Reply } from './reply.ts';

/** Media types other than JSON of a response, selected by the caller's `Accept` or always. */
export interface Content<S extends z.ZodType | undefined = z.ZodType | undefined> {
  kind: 'content';
  mediaTypes: readonly string[];
  json: S;
}

/** A redirect to the bytes. */
interface Redirect {
  kind: 'redirect';
}

export type OutputSpec = Readonly<Partial<Record<200 | 201, z.ZodType | Content>> & { 302?: Redirect }>;

type JsonOf<O> = O extends z.ZodType
  ? z.input<O>
  : O extends Content<infer S>
    ? S extends z.ZodType
      ? z.input<S>
      : never
    : never;
type Json<O extends OutputSpec> = { [Status in keyof O]: JsonOf<O[Status]> }[keyof O];

/** A result of `handle`: the declared JSON value, or a {@link Reply} around it. */
export type Answer<O extends OutputSpec> = Json<O> | Reply<Json<O>> | Reply<never>;

/** A response with these other media types; without `json` it is never JSON. */
export function content(mediaTypes: readonly string[]): Content<undefined>;
export function content<S extends z.ZodType>(mediaTypes: readonly string[], json: S): Content<S>;
export function content(mediaTypes: readonly string[], json?: z.ZodType): Content {
  return { kind: 'content', mediaTypes, json };
}

export const redirect: Redirect = { kind: 'redirect' };

/** Status of a successful answer that is not a redirect. */
export function successStatus(output: OutputSpec): 200 | 201 {
  return output[201] === undefined ? 200 : 201;
}

/** Schema of an endpoint's JSON answer. */
export function jsonSchema({ name, output }: { name: string; output: OutputSpec }): z.ZodType {
  const declared = output[successStatus(output)];
  const schema = declared !== undefined && 'kind' in declared ? declared.json : declared;
  if (schema === undefined) throw new Error(`${name} returns JSON but declares none`);
  return schema;
}
