import type * as z from 'zod';
import type { Reply } from './reply.ts';

/** Other media types than JSON that an answer may have, by the caller's `Accept` or always. */
export interface Content<S extends z.ZodType | undefined = z.ZodType | undefined> {
  kind: 'content';
  mediaTypes: readonly string[];
  json: S;
}

/** A redirect to where the bytes are. */
export interface Redirect {
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

/** What `handle` may answer: the declared JSON value itself, or a {@link Reply} around it. */
export type Answer<O extends OutputSpec> = Json<O> | Reply<Json<O>> | Reply<never>;

/** An answer that may also be of these other media types; without `json` never JSON. */
export function content(mediaTypes: readonly string[]): Content<undefined>;
export function content<S extends z.ZodType>(mediaTypes: readonly string[], json: S): Content<S>;
export function content(mediaTypes: readonly string[], json?: z.ZodType): Content {
  return { kind: 'content', mediaTypes, json };
}

export const redirect: Redirect = { kind: 'redirect' };
