import fc, { anyText } from '../../support/seeded-fast-check.ts';

/** Texts that have broken services before. */
const known = [
  '',
  ' ',
  '\t\n',
  '0',
  '-1',
  '1e999',
  'NaN',
  'null',
  'undefined',
  'true',
  '[object Object]',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  '../../etc/passwd',
  '..\\..\\windows',
  '%2e%2e%2f',
  '..%c0%af..',
  '/',
  '//',
  '.',
  'a#b',
  'PROJECTS',
  'COUNTERS#x',
  'Ref::config',
  '$(id)',
  '`id`',
  '; rm -rf /',
  '| cat',
  '$\u007bjndi:ldap://x}',
  '{{7*7}}',
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  '\u0000',
  'a\u0000b',
  '\r\nSet-Cookie: a=b',
  '\u202Eevil',
  '\uFEFF',
  '\uFFFD',
  '\uD800',
  'ﬁ',
  'İ',
  'ß'.repeat(64),
  '𝕬'.repeat(200),
  'e\u0301'.repeat(100),
  '👨‍👩‍👧‍👦',
  'x'.repeat(129),
  'x'.repeat(5000),
  '9'.repeat(400),
  '01jgk7y4m8s2v6x0b3n9q5r1tz',
  '01JGK7Y4M8S2V6X0B3N9Q5R1TZ',
];

/** Any text, mostly a bad one. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...known) },
  { weight: 1, arbitrary: anyText({ maxLength: 40 }) },
);

/** Text that a URL's path can hold: not empty, and no half characters. */
export const hostileSegment: fc.Arbitrary<string> = hostileText.map((text) => text.toWellFormed() || '-');

/** Text that a header's value can hold, as it comes out of HTTP. */
export const hostileHeader: fc.Arbitrary<string> = fc.oneof(
  hostileText.map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').trim()),
  fc.constantFrom(
    '*',
    '"1-abc"',
    'W/"1-abc"',
    '"1-abc", "2-abc"',
    'abc',
    '"',
    '{',
    '{a',
    'a,,b',
    '*{*}',
    'a{b{c}}',
    '}',
  ),
);

/** Any bytes, or what half of a document looks like. */
export const hostileBytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc
    .constantFrom(
      '{',
      '[]',
      'null',
      '"text"',
      '{"a":1',
      '{"__proto__":{"a":1}}',
      'a=1&a=2',
      '%',
      'a: [',
      '\u0000',
      '['.repeat(5000),
    )
    .map((text) => Buffer.from(text)),
);
