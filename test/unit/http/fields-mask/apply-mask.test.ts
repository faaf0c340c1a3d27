import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { applyMask } from '../../../../shared/http/fields-mask/fields-mask.ts';
import { parseMask } from '../../../../shared/http/fields-mask/parse-mask.ts';

const apply = (mask: string, schema: z.ZodType, value: unknown) => applyMask(parseMask(mask), schema, value);

describe('schemas', () => {
  const inner = z.object({ a: z.string(), b: z.string() });
  const value = { a: 'x', b: 'y' };

  test.each<[string, z.ZodType]>([
    ['optional', inner.optional()],
    ['nullable', inner.nullable()],
    ['both', inner.nullable().optional()],
    ['nonoptional', inner.optional().nonoptional()],
    ['default', inner.default(value)],
    ['prefault', inner.prefault(value)],
    ['catch', inner.catch(value)],
    ['readonly', inner.readonly()],
    ['brand', inner.brand('inner')],
    ['lazy', z.lazy(() => inner)],
    ['pipe', z.unknown().pipe(inner)],
    ['preprocess', z.preprocess((given) => given, inner)],
    ['refined', inner.refine(() => true)],
    ['strict', inner.strict()],
    ['a part of an intersection', z.object({ a: z.string() }).and(z.object({ b: z.string() }))],
    ['union with a scalar', z.union([z.string(), inner])],
  ])('%s does not hide the names inside', (_, schema) => {
    expect(apply('b,c', schema, value)).toEqual({ b: 'y' });
    expect(() => apply('b{x}', schema, value)).toThrow('Mask is inconsistent with model');
  });

  test.each<[string, z.ZodType]>([
    ['text', z.string()],
    ['number', z.number()],
    ['flag', z.boolean()],
    ['enum', z.enum(['on', 'off'])],
    ['literal', z.literal('on')],
    ['timestamp', z.iso.datetime()],
    ['nullable text', z.string().nullable()],
    ['union of scalars', z.union([z.string(), z.number()])],
    ['list of texts', z.array(z.string())],
  ])('%s is a scalar', (_, schema) => {
    expect(() => apply('field{x}', z.object({ field: schema }), { field: null })).toThrow('inconsistent');
  });

  const cases = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('image'), width: z.number().optional() }),
    z.object({ kind: z.literal('text'), words: z.number(), by: z.object({ name: z.string() }) }),
  ]);

  test('a union shows the names of the alternative that the value has', () => {
    expect(apply('kind,width,words', cases, { kind: 'image' })).toEqual({ kind: 'image', width: null });
    expect(apply('width,by{name}', cases, { kind: 'text', words: 2, by: { name: 'ada' } })).toEqual({
      by: { name: 'ada' },
    });
  });

  test('a union refuses a mask that does not fit one of its alternatives, whatever the value', () => {
    expect(() => apply('words{x}', cases, { kind: 'image' })).toThrow('inconsistent');
  });

  test('a scalar of a union with objects is shown whole', () => {
    expect(apply('f{a}', z.object({ f: z.union([z.string(), inner]) }), { f: 'text' })).toEqual({
      f: 'text',
    });
  });

  test('a record knows the names that it has, and all those that its key schema lists', () => {
    const metrics = z.record(z.string(), z.object({ best: z.number(), last: z.number() }));
    expect(apply('loss{best},gone,gone{best}', metrics, { loss: { best: 1, last: 2 } })).toEqual({
      loss: { best: 1 },
    });
    expect(apply('on,off,other', z.partialRecord(z.enum(['on', 'off']), z.number()), { on: 1 })).toEqual({
      on: 1,
      off: null,
    });
  });

  test('a loose object knows the names of its schema and those that it has', () => {
    expect(apply('a,more,gone', z.looseObject({ a: z.string().optional() }), { more: 1 })).toEqual({
      a: null,
      more: 1,
    });
  });

  test('in open data a sub-mask leaves scalars whole', () => {
    const value = { rate: 1, list: [{ size: 3, more: 1 }, 'text', null] };
    expect(apply('rate{x},list{size},gone{x}', z.unknown(), value)).toEqual({
      rate: 1,
      list: [{ size: 3 }, 'text', null],
    });
  });

  test('a recursive schema is masked at every level', () => {
    const Node = z.object({
      id: z.string(),
      get children() {
        return z.array(Node);
      },
    });
    const tree = { id: '1', children: [{ id: '2', children: [{ id: '3', children: [] }] }] };
    expect(apply('children{children{id}}', Node, tree)).toEqual({
      children: [{ children: [{ id: '3' }] }],
    });
    expect(() => apply('children{id{x}}', Node, tree)).toThrow('inconsistent');
  });

  test('any JSON is masked like open data', () => {
    expect(apply('a{b}', z.json(), [{ a: { b: 1, c: 2 } }, 3])).toEqual([{ a: { b: 1 } }, 3]);
  });
});

describe('hostile masks', () => {
  const deep = `${'a{'.repeat(20_000)}a${'}'.repeat(20_000)}`;

  test('names of Object.prototype are no fields, and no prototype is changed', () => {
    const shown = apply('__proto__{polluted},constructor{prototype},a', z.object({ a: z.string() }), {
      a: 'x',
    });
    expect(shown).toEqual({ a: 'x' });
    expect(Object.getPrototypeOf(shown)).toBe(Object.prototype);
  });

  test('a field called __proto__ in open data stays a field', () => {
    const shown = apply('__proto__', z.unknown(), JSON.parse('{"__proto__":{"polluted":1}}'));
    expect(JSON.stringify(shown)).toBe('{"__proto__":{"polluted":1}}');
    expect(Object.getPrototypeOf(shown)).toBe(Object.prototype);
  });

  test('depth beyond the stack is parsed and refused or applied', () => {
    const Chain = z.object({
      get a() {
        return Chain.nullable();
      },
    });
    expect(apply(deep, Chain, { a: { a: null } })).toEqual({ a: { a: null } });
    expect(apply(deep, z.json(), { a: 'text' })).toEqual({ a: 'text' });
    expect(() => apply(deep, z.object({ a: z.object({ a: z.string() }) }), {})).toThrow('inconsistent');
  });

  test('a deep mask that never closes is refused', () => {
    expect(() => parseMask('a{'.repeat(20_000))).toThrow('Missing closing bracket');
  });
});
