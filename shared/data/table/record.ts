import * as z from 'zod';
import type { Condition } from './condition.ts';
import { UnreadableRecordError } from './item.ts';
import type { Item, Key } from './table.ts';

export interface RecordType<S extends z.ZodObject> {
  readonly kind: string;
  /** Made when it is first asked for: a function reads few of the kinds of records that its bundle knows. */
  readonly schema: S;
  /** The item to store; bad values never reach the table. */
  item(key: Key, value: z.input<S>): Item;
  /** The record of a stored item. Throws {@link UnreadableRecordError} naming the record and each bad attribute. */
  parse(item: Item): z.output<S>;
  /**
   * The record for its removal or replacement, also where it cannot be read: each attribute that fits the schema, and
   * those of `standIn` for the others.
   */
  salvage(item: Item, standIn: z.output<S>): z.output<S>;
}

/** Attributes that every item has beside those of its schema. */
const reserved = ['pk', 'sk', 'record_type', 'schema_version'];

function attributesOf({ record_type, schema_version, ...attributes }: Item): Record<string, unknown> {
  return attributes;
}

type Upgrade = (attributes: Record<string, unknown>) => Record<string, unknown>;

/**
 * A kind of record with its schema. Each stored item carries `record_type` and `schema_version`; an older item passes
 * through `upgrades[version]`, `upgrades[version + 1]`, … before it is parsed, so a newer reader reads older records.
 * A change of single attributes leaves an item its version: an upgrade takes attributes that are new already as they are.
 */
export function recordType<const S extends z.ZodObject>(
  kind: string,
  makeSchema: () => S,
  upgrades: readonly Upgrade[] = [],
): RecordType<S> {
  const current = upgrades.length;
  let made: S | undefined;
  const schema = (): S => {
    if (made !== undefined) return made;
    const fresh = makeSchema();
    const taken = reserved.filter((name) => Object.hasOwn(fresh.shape, name));
    if (taken.length > 0) throw new Error(`a ${kind} cannot have attributes named ${taken.join(', ')}`);
    made = fresh;
    return fresh;
  };
  const parse = (item: Item): z.output<S> => {
    const { record_type: stored, schema_version: version } = item;
    if (stored !== kind) throw new UnreadableRecordError(item, `is a ${String(stored)}, not a ${kind}`);
    if (typeof version !== 'number' || version > current) {
      throw new UnreadableRecordError(
        item,
        `is a ${kind} whose schema version ${String(version)} is newer than ${current}`,
      );
    }
    // Nearly every item is of this version, and is not copied.
    const upgraded =
      version === current
        ? item
        : upgrades.slice(version).reduce((value, upgrade) => upgrade(value), attributesOf(item));
    const parsed = schema().safeParse(upgraded);
    if (parsed.success) return parsed.data;
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new UnreadableRecordError(item, `is a ${kind} with ${faults.join('; ')}`);
  };
  return {
    kind,
    get schema() {
      return schema();
    },
    item: ({ pk, sk }, value) => ({
      ...schema().parse(value),
      pk,
      sk,
      record_type: kind,
      schema_version: current,
    }),
    parse,
    salvage(item, standIn) {
      try {
        return parse(item);
      } catch (error) {
        if (!(error instanceof UnreadableRecordError)) throw error;
        const fitting = Object.entries(schema().shape).flatMap(([name, field]) => {
          const parsed = z.safeParse(field, item[name]);
          return parsed.success && Object.hasOwn(item, name) ? [[name, parsed.data]] : [];
        });
        return { ...standIn, ...Object.fromEntries(fitting) };
      }
    },
  };
}

/** Bytes in an item. */
export const Bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'must be bytes');

/** Version that stands in for one that cannot be read; records begin with 1. */
export const unreadableVersion = 0;

/** Condition that a record is still of this version. */
export const ofVersion = (version: number): Condition =>
  version === unreadableVersion ? { exists: true } : { equals: { version } };
