import { createHash } from 'node:crypto';
import {
  maxParam,
  maxTag,
  maxTrackedName,
  TaggedName,
} from '../../shared/data/experiments/tracking-rules.ts';
import {
  maxClientName,
  maxProjectTag,
  projectTagsMaxBytes,
} from '../../shared/data/projects/project-rules.ts';
import { clientPathMaxBytes, isSafePath } from '../../shared/data/projects/upload-rules.ts';
import type { Pair, SourceExperiment } from './source.ts';

/** The names of one run, or the paths of its files, in the form that this service takes. Two different names stay different. */
export class Names {
  readonly #rule: NameRule;
  readonly #fitted = new Map<string, string>();
  readonly #taken = new Set<string>();
  /** Fitted names by the names that had to change. */
  readonly changed = new Map<string, string>();

  constructor(rule: NameRule = plainName) {
    this.#rule = rule;
  }

  fit(name: string): string {
    const known = this.#fitted.get(name);
    if (known !== undefined) return known;
    const plain = this.#rule(name);
    const fitted = this.#taken.has(plain) ? withDigest(plain, name) : plain;
    this.#fitted.set(name, fitted);
    this.#taken.add(fitted);
    if (fitted !== name) this.changed.set(name, fitted);
    return fitted;
  }
}

type NameRule = (name: string) => string;

/** Replace what the rules for names refuse: other characters, and parts that mean a path elsewhere. */
function plainName(name: string): string {
  if (TaggedName.safeParse(name).success) return name;
  const parts = name
    .replace(/[^/\p{L}\p{N}\p{M}_.\- :]/gu, '_')
    .split('/')
    .filter((part) => part !== '')
    .map((part) => (/^\.+$/.test(part) ? part.replaceAll('.', '_') : part));
  const plain = parts.join('/') || '_';
  return [...plain].length <= maxTrackedName ? plain : withDigest(plain, name);
}

/** Replace what the rules for paths refuse. `..` would lead a request to another address of the service. */
export function plainPath(path: string): string {
  const plain =
    path
      .toWellFormed()
      .replace(/[\\\0]/g, '_')
      .split('/')
      .filter((part) => part !== '')
      .map((part) => (isSafePath(part) ? part : part.replaceAll('.', '_')))
      .join('/') || '_';
  return Buffer.byteLength(plain) <= clientPathMaxBytes ? plain : withDigest(plain, path);
}

/** Return the id of a run at its source as a value of a tag. Equal parts of long ids stay different. */
export function idText(id: string): string {
  const plain = id.toWellFormed();
  return plain === id && tooLong.tags(id) === undefined ? id : withDigest(plain, id);
}

const digestLength = 8;

/** Name with the beginning of a digest of the original, which tells it from others. */
const withDigest = (plain: string, name: string): string =>
  `${[...plain].slice(0, maxTrackedName - digestLength - 1).join('')}_${createHash('sha256').update(name).digest('hex').slice(0, digestLength)}`;

const cutTo =
  (most: number) =>
  (value: string): string | undefined =>
    value.length <= most || [...value].length <= most
      ? undefined
      : `${[...value].slice(0, most - 1).join('')}…`;

/** Return the cut form of a value that is too long; undefined for others. */
export const tooLong = { params: cutTo(maxParam), tags: cutTo(maxTag) } as const;

const shortTag = cutTo(maxProjectTag);

/** Give the name and the tags of a project the form that this service takes. Note what changes. */
export function fitProject(
  { name, tags }: SourceExperiment,
  note: (reason: string) => void,
): Pick<SourceExperiment, 'name' | 'tags'> {
  const plain = name.trim() === '' ? '_' : name.toWellFormed();
  const fitted = plain.length <= maxClientName ? plain : withDigest(plain, name);
  if (fitted !== name) note(`project ${JSON.stringify(name.slice(0, maxClientName))}: it is ${fitted} here`);
  const names = new Names();
  let bytes = 0;
  const kept: Pair[] = [];
  for (const tag of tags) {
    const text = tag.value.toWellFormed();
    const pair = { key: names.fit(tag.key), value: shortTag(text) ?? text };
    bytes += Buffer.byteLength(JSON.stringify(pair));
    if (bytes > projectTagsMaxBytes) note(`tags of a project beyond ${projectTagsMaxBytes} bytes: left out`);
    else kept.push(pair);
    if (pair.key !== tag.key || pair.value !== tag.value) note(`tag ${tag.key} of a project: changed`);
  }
  return { name: fitted, tags: kept };
}
