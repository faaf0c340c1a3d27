import { describe, expect, test } from 'vitest';
import { noMask, SecretMask } from '../../../../shared/runner/host/secret-mask.ts';
import { LineSplitter } from '../../../../shared/runner/telemetry/line-splitter.ts';
import { CrashLine } from '../../../../shared/runner/training/crash-line.ts';
import fc, { runs } from '../../../support/seeded-fast-check.ts';

const token = 'hf_0123456789abcdef';

describe('a mask of secrets', () => {
  test.each([
    ['as it is', `a ${token} b`, 'a *** b'],
    ['twice', `${token}${token}`, '******'],
    ['in Base64', Buffer.from(token).toString('base64'), '***=='],
    ['not in part', token.slice(1), token.slice(1)],
  ])('masks a secret: %s', (_, text, masked) => {
    expect(new SecretMask([token]).apply(text)).toBe(masked);
  });

  test('masks what programs make of it: JSON, URLs, lines, passwords of URLs', () => {
    const pem = '-----BEGIN-----\nabc"def+ghi/\r\n  indented line\n}\n';
    const url = 'https://ann:p%40ss%2Fword@index.example/simple';
    const mask = new SecretMask([pem, url]);
    for (const shown of [
      pem.trim(),
      JSON.stringify(pem.trim()).slice(1, -1),
      encodeURIComponent(pem.trim()),
      'abc"def+ghi/',
      JSON.stringify('abc"def+ghi/').slice(1, -1),
      'indented line',
      'p%40ss%2Fword',
      'p@ss/word',
    ])
      expect(mask.apply(`<${shown}>`)).toBe('<***>');
    // A line that is too short to tell anything stays.
    expect(mask.apply('}')).toBe('}');
  });

  test('masks every credential of what installers are given: each URL, users that are tokens, a .netrc, Basic', () => {
    const mask = new SecretMask([
      'https://ann:first-pw@a.example/simple https://ben:second%21pw@b.example/simple',
      'https://ghp_0123456789@c.example/simple',
      'machine d.example\n  login cat password third-pw\nmachine e.example login dan password "fourth pw"',
    ]);
    for (const shown of ['first-pw', 'second%21pw', 'second!pw', 'ghp_0123456789', 'third-pw', 'fourth pw'])
      expect(mask.apply(`<${shown}>`)).toBe('<***>');
    const basic = Buffer.from('ben:second!pw').toString('base64').replace(/=+$/, '');
    expect(mask.apply(`Authorization: Basic ${basic}`)).toBe('Authorization: Basic ***');
    // Users that have passwords, and such as are too short to be tokens, occur by chance.
    expect(new SecretMask(['https://admin@d.example/simple']).apply('admin ann')).toBe('admin ann');
  });

  test('masks the longer of two secrets, one of which begins the other', () => {
    expect(new SecretMask(['longsecret', 'longsecret-and-more']).apply('longsecret-and-more')).toBe('***');
  });

  test('without secrets changes nothing', () => {
    expect(noMask.apply('anything .*')).toBe('anything .*');
    expect(noMask.longest).toBe(0);
  });

  test('leaves the first line out of the end of a longer text, where a secret may be cut', () => {
    const mask = new SecretMask([token]);
    expect(mask.applyToEnd(`${token.slice(3)} x\nsecond ${token}`, true)).toBe('second ***');
    expect(mask.applyToEnd(`${token.slice(3)} ${'y'.repeat(mask.longest)}`, true)).not.toContain('456789');
    expect(mask.applyToEnd('first\nsecond', false)).toBe('first\nsecond');
  });
});

/** Lines of text that comes in pieces, as a log keeps them. */
function linesOf(bytes: Buffer, cuts: readonly number[], mask: SecretMask): string[] {
  const splitter = new LineSplitter(mask);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  let start = 0;
  const lines = ends.flatMap((end) => {
    const piece = bytes.subarray(start, end);
    start = end;
    return splitter.split(piece, 0);
  });
  return [...lines, ...splitter.end()];
}

test('no secret is in a log, wherever its lines and pieces are cut', () => {
  const secret = fc.string({ unit: fc.constantFrom(...'aAbB09-_ä👍'), minLength: 8, maxLength: 40 });
  const filler = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.constantFrom('\n', '\r', '\r\n'),
    fc.integer({ min: 16_300, max: 16_400 }).map((length) => 'z'.repeat(length)),
  );
  const text = secret
    .filter((one) => one.trim().length >= 8)
    .chain((one) =>
      fc.tuple(
        fc.constant(one),
        fc.array(fc.oneof(fc.constant(one), filler), { maxLength: 12 }).map((parts) => parts.join('')),
      ),
    );
  fc.assert(
    fc.property(text, fc.array(fc.nat({ max: 200_000 }), { maxLength: 6 }), ([one, whole], cuts) => {
      const lines = linesOf(Buffer.from(whole), cuts, new SecretMask([one]));
      const isPiece = (line: string) => line.length > 16_000;
      const joined = lines.map((line) => (isPiece(line) ? line : `${line}\n`)).join('');
      expect(joined.includes(one.trim())).toBe(false);
    }),
    { numRuns: runs(300) },
  );
});

test('a long line without end is shown in pieces, also beside a mask', () => {
  const splitter = new LineSplitter(new SecretMask([token]));
  const shown = splitter.split(Buffer.from('x'.repeat(100_000)), 0);
  expect(shown.join('').length).toBeGreaterThan(80_000);
  expect([...shown, ...splitter.end()].join('')).toBe('x'.repeat(100_000));
});

test('the error that ended a command names no secret, also where the line is shortened', () => {
  const crash = new CrashLine(new SecretMask([token]));
  crash.take('stderr', Buffer.from(`ValueError: ${'x'.repeat(280)} ${token.slice(0, 10)}`));
  crash.take('stderr', Buffer.from(`${token.slice(10)}\n`));
  const line = crash.read();
  expect(line).not.toContain('hf_0');
  expect(line).toContain('***');
});
